/* Functions that the regions of another file call. */
static int at_most_3(int x) { return x < 3 ? x : 3; }

static int staircase(int x) {
  int sum = 0;
  for (int i = 0; i < x; i++) {
    if (i == 4)
      return sum + 100;
    sum += at_most_3(i);
  }
  return sum;
}

static void one_more(int *k) { *k += 1; }
