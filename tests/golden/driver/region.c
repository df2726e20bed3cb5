#include "nomp-pragma.h"
#line 1 "foo.c"

double f(const double *x, int n, long w, int b);
INLINE double f(const double *x, int n, long w, int b) {
  int i;
  double sum = 0;
  if (n > 1)
{ NOMP_REGION("{\"version\":2,\"region\":{\"@\":\"Region\",\"a\":[\"kernel\",\"foo.c\",7,[{\"@\":\"Param\",\"a\":[\"n\",\"int32\",\"scalar\",\"n\"]},{\"@\":\"Param\",\"a\":[\"w\",\"int64\",\"scalar\",\"w\"]},{\"@\":\"Param\",\"a\":[\"b\",\"bool\",\"scalar\",\"b\"]},{\"@\":\"Param\",\"a\":[\"x\",\"float64\",\"array\",\"x\",[null]]},{\"@\":\"Param\",\"a\":[\"sum\",\"float64\",\"cell\",\"&(sum)\"]},{\"@\":\"Param\",\"a\":[\"i\",\"int32\",\"counter\",\"&(i)\"]}],[{\"@\":\"For\",\"a\":[\"i\",\"int32\",{\"@\":\"Const\",\"a\":[0,\"int32\"]},\"<\",{\"@\":\"Var\",\"a\":[\"n\",\"int32\"]},{\"@\":\"Const\",\"a\":[0,\"int32\"]},[],null,{\"@\":\"Place\",\"a\":[8,3,3]}]}],{\"@\":\"Clauses\",\"a\":[]},0,[\"\"]]}}", "foo.c", 7); __extension__ __INT32_TYPE__ __nomp_0 = (n); __extension__ __INT64_TYPE__ __nomp_1 = (w); __extension__ _Bool __nomp_2 = (b); void *__nomp_args[6]; __nomp_args[0] = &__nomp_0; __nomp_args[1] = &__nomp_1; __nomp_args[2] = &__nomp_2; __nomp_args[3] = (void *)(__UINTPTR_TYPE__)(x); __nomp_args[4] = (void *)(__UINTPTR_TYPE__)(&(sum)); __nomp_args[5] = (void *)(__UINTPTR_TYPE__)(&(i)); if (nomp_pragma_run(&__nomp_region, __nomp_args)) { 
  for (i = 0; i < n; i++)
    sum += x[i] + w + b; nomp_pragma_confirm(); } }
  else
    sum = 1;
  return sum;
}
