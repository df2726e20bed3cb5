#include "nomp-pragma.h"
#line 1 "a \"b\".c"
int main(int argc, char **argv) {
nomp_pragma_init((argc), (const char **)(__UINTPTR_TYPE__)(argv), "foo.c", 2);
(nomp_pragma_update((void *)(__UINTPTR_TYPE__)(x), (__SIZE_TYPE__)(1), (__SIZE_TYPE__)(n), sizeof((x)[0]), 2, "x", "foo.c", 3), nomp_pragma_update((void *)(__UINTPTR_TYPE__)(s->y), (__SIZE_TYPE__)(0), (__SIZE_TYPE__)(3 * m), sizeof((s->y)[0]), 2, "s->y", "foo.c", 3));
nomp_pragma_sync("foo.c", 4);
nomp_pragma_finalize("foo.c", 5);
}
