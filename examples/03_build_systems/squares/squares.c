#include <stdio.h>
#include "size.h"

int main(int argc, char **argv) {
#pragma nomp init(argc, argv)
  long sum = 0;
#pragma nomp for reduce("sum", "+")
  for (long i = 1; i <= SIZE; i++)
    sum += i * i;
  printf("%ld\n", sum);
#pragma nomp finalize
  return 0;
}
