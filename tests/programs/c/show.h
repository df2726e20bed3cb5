/* Prints what a program computed, one line an array: the two builds of a program must print the same. */
#ifndef SHOW_H
#define SHOW_H
#include <stdio.h>

#define SHOW(format, array, count)                                                                                     \
  do {                                                                                                                 \
    printf("%s:", #array);                                                                                             \
    for (int show_i = 0; show_i < (int)(count); show_i++)                                                              \
      printf(" " format, (array)[show_i]);                                                                             \
    printf("\n");                                                                                                      \
  } while (0)

#endif
