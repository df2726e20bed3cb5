/*
 * python.c: the embedded interpreter.  It is started at the first call that needs it, as the Python that nomp is
 * installed for, without touching the host program: no signal handlers, no locale, no stdio buffering, no argv.
 * Where the process runs Python already, that interpreter is used.  It is never ended.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "bridge.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NOMP_BUILD_PYTHON
#error "compile with nomp/capi/build.py, which defines NOMP_BUILD_PYTHON as the path of its interpreter"
#endif

#define HOW_TO_CHOOSE "Set NOMP_PYTHON to the python of the environment that nomp is installed in."

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready = 0;
static pid_t owner = 0; /* the process that started the interpreter; 0 where the host did */

static int usable(const char *path) { return path && *path && access(path, X_OK) == 0; }

/* PREFIX/lib/pythonX.Y/site-packages/nomp/capi/lib/libnomp.so belongs to PREFIX/bin/python3. */
static int python_of_library(char *path) {
  Dl_info info;
  char real[PATH_MAX];
  if (!dladdr((void *)&nomp_python_start, &info) || !realpath(info.dli_fname, real)) return 0;
  char *found = NULL, *next = real;
  while ((next = strstr(next, "/lib/python")) != NULL) found = next++;
  if (!found) return 0;
  *found = '\0';
  return snprintf(path, PATH_MAX, "%s/bin/python3", real) < PATH_MAX && usable(path);
}

static int python_of_virtualenv(char *path) {
  const char *folder = getenv("VIRTUAL_ENV");
  return folder && snprintf(path, PATH_MAX, "%s/bin/python3", folder) < PATH_MAX && usable(path);
}

/* The python whose environment is to be used: 1 and its path, or 0 where there is none. */
static int find_python(char *path) {
  const char *chosen = getenv("NOMP_PYTHON");
  if (chosen && *chosen) return snprintf(path, PATH_MAX, "%s", chosen) < PATH_MAX && usable(path);
  if (python_of_library(path)) return 1;
  snprintf(path, PATH_MAX, "%s", NOMP_BUILD_PYTHON);
  return usable(path) || python_of_virtualenv(path);
}

/* Extension modules look Python's symbols up globally, but a host may have loaded us, and so libpython, locally. */
static void make_symbols_global(void) {
  Dl_info info;
  if (dladdr((void *)&Py_IsInitialized, &info)) dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

/*
 * PYTHONHOME would have Python look for its library, and for nomp, somewhere else; modules of loopy need their
 * docstrings, which PYTHONOPTIMIZE can take away.
 */
static int environment_fits(void) { return !getenv("PYTHONHOME") && !getenv("PYTHONOPTIMIZE"); }

static PyStatus preinitialize(void) {
  PyPreConfig config;
  PyPreConfig_InitPythonConfig(&config);
  config.configure_locale = 0, config.coerce_c_locale = 0, config.utf8_mode = 1;
  config.use_environment = environment_fits();
  return Py_PreInitialize(&config);
}

static PyStatus start_as(const char *python) {
  PyStatus status = preinitialize();
  if (PyStatus_Exception(status)) return status;
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0, config.configure_c_stdio = 0, config.parse_argv = 0;
  config.buffered_stdio = 0; /* nobody would flush what scripts print */
  config.use_environment = environment_fits();
  const char *folders = config.use_environment ? NULL : getenv("PYTHONPATH");
  if (folders) status = PyConfig_SetBytesString(&config, &config.pythonpath_env, folders);
  if (!PyStatus_Exception(status)) status = PyConfig_SetBytesString(&config, &config.program_name, python);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  return status;
}

static int start_interpreter(void) {
  char python[PATH_MAX] = "";
  if (!find_python(python))
    return nomp_log_errorf(NOMP_PY_CALL_FAILURE, __FILE__, __LINE__, "Python was not found at \"%s\". " HOW_TO_CHOOSE,
                           python);
  make_symbols_global();
  PyStatus status = start_as(python);
  if (PyStatus_Exception(status))
    return nomp_log_errorf(NOMP_PY_CALL_FAILURE, __FILE__, __LINE__,
                           "Python cannot start as \"%s\": %s. " HOW_TO_CHOOSE, python,
                           status.err_msg ? status.err_msg : "no reason given");
  PyEval_SaveThread(); /* every later call takes the lock when it needs it */
  owner = getpid();
  return 0;
}

/* Log the Python exception that is set: nomp cannot be imported. */
static int import_failed(void) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject *text = value ? PyObject_Str(value) : NULL;
  const char *reason = text ? PyUnicode_AsUTF8(text) : NULL;
  PyObject *program = PySys_GetObject("executable");
  const char *python = program && PyUnicode_Check(program) ? PyUnicode_AsUTF8(program) : NULL;
  int id = nomp_log_errorf(NOMP_PY_CALL_FAILURE, __FILE__, __LINE__, "\"%s\" cannot load nomp: %s. " HOW_TO_CHOOSE,
                           python ? python : "python", reason ? reason : "no reason given");
  Py_XDECREF(text), Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
  PyErr_Clear();
  return id;
}

static int import_nomp(void) {
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *backend = PyImport_ImportModule("_cffi_backend");
  PyObject *api = backend ? PyImport_ImportModule("nomp.capi.api") : NULL;
  PyObject *fits = api ? PyObject_CallMethod(api, "require", "s", nomp_bridge) : NULL;
  int id = fits ? 0 : import_failed();
  Py_XDECREF(backend), Py_XDECREF(api), Py_XDECREF(fits);
  PyGILState_Release(state);
  return id;
}

/* What Python does when it ends: the runtime waits for the device and closes it. */
static void end_as_python(void) {
  if (getpid() != owner) return;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *module = PyImport_ImportModule("atexit");
  PyObject *done = module ? PyObject_CallMethod(module, "_run_exitfuncs", NULL) : NULL;
  if (!done) PyErr_Clear(); /* there is no one left to tell */
  Py_XDECREF(module), Py_XDECREF(done);
  PyGILState_Release(state);
}

void nomp_python_end_at_exit(void) {
  static int times = 0;
  /* Launches come here: the count must not run on. */
  if (!owner || __atomic_load_n(&times, __ATOMIC_RELAXED) >= 8) return;
  if (__atomic_fetch_add(&times, 1, __ATOMIC_ACQ_REL) < 8) atexit(end_as_python);
}

int nomp_python_start(void) {
  if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) return 0;
  pthread_mutex_lock(&lock);
  int id = Py_IsInitialized() ? 0 : start_interpreter();
  pthread_mutex_unlock(&lock);
  if (!id) id = import_nomp(); /* not under our lock: Python's import lock serves, and may be held by our caller */
  if (!id) __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  return id;
}
