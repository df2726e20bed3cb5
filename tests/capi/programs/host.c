/* A host that loads the library locally, and finds its signals and locale as they were.  (PoCL's compiler puts handlers
 * of its own before the host's, so that with a device only the effect can be compared.) */
#include <dlfcn.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t interrupts = 0;

static void count(int signal) { interrupts += signal == SIGINT; }

static void *handler(int signal) {
  struct sigaction action;
  sigaction(signal, NULL, &action);
  return (void *)action.sa_handler;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  void *before[] = {handler(SIGINT), handler(SIGPIPE), handler(SIGTERM)};
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return puts(dlerror()), 1;
  int (*init)(int, const char **);
  int (*finalize)(void);
  *(void **)&init = dlsym(library, "nomp_init");
  *(void **)&finalize = dlsym(library, "nomp_finalize");
  const char *nothing[] = {"program", "--nomp-backend", "abacus"}, *device[] = {"program", "--nomp-backend", "opencl"};
  if (init(3, nothing) == 0) return 1;
  void *after[] = {handler(SIGINT), handler(SIGPIPE), handler(SIGTERM)};
  if (memcmp(before, after, sizeof before)) return puts("signal handlers have changed"), 1;
  if (strcmp(setlocale(LC_ALL, NULL), "C")) return puts("the locale has changed"), 1;
  signal(SIGINT, count);
  if (init(3, device) != 0) return 1;
  raise(SIGINT);
  if (interrupts != 1) return puts("the host's handler was not called"), 1;
  if (finalize() != 0) return 1;
  puts("done");
  return 0;
}
