/* A test double of libhiprtc.so: g++ compiles the kernels, for the double of libamdhip64.so to run on a CPU.

   With ON_CUDA, NVRTC compiles them, too, for amdhip64_on_cuda.cc to run on an NVIDIA GPU; what g++ makes then only
   describes them.  It knows one architecture, and ends the process over any other one, as AMD's own does. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include <sys/wait.h>

#ifdef ON_CUDA
#include <cuda.h>
#include <nvrtc.h>
#endif

namespace {

enum { SUCCESS = 0, INVALID_INPUT = 3, COMPILATION = 6, INTERNAL_ERROR = 11, NOT_SUPPORTED = 7 };

const char ARCHITECTURE[] = "--offload-arch=gfx90a";
const int MOST_ITEMS = 1024;

struct Program {
  std::string source, log, code;
};

/* A file's contents. */
std::string read(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/* What *command* prints, and whether it did well. */
std::pair<std::string, bool> printed(const std::string &command) {
  std::string text;
  FILE *output = popen((command + " 2>&1 </dev/null").c_str(), "r");
  if (!output) return {"", false};
  for (int c; (c = fgetc(output)) != EOF;) text += (char)c;
  return {text, pclose(output) == 0};
}

/* What goes after the kernels: their entries, and the code object's metadata. */
std::string described(const std::string &source) {
  static const std::regex kernel(
      R"(__global__\s+(?:static\s+)?void\s+(?:__launch_bounds__\s*\(\s*(\d+)[^)]*\)\s*)?(\w+)\s*\()");
  std::ostringstream entries, descriptions;
  int count = 0;
  for (std::sregex_iterator found(source.begin(), source.end(), kernel), end; found != end; ++found, ++count) {
    std::string name = (*found)[2], items = (*found)[1].matched ? (*found)[1].str() : std::to_string(MOST_ITEMS);
    entries << "DOUBLE_KERNEL(" << name << ", " << items << ")\n";
    descriptions << "double_::describe(message, \"" << name << "\", " << items << ", " << name << ");";
  }
  entries << "DOUBLE_METADATA(" << count << ", " << descriptions.str() << ")\n";
  return entries.str();
}

int compile(Program &program, const std::string &options) {
  std::string folder = std::filesystem::temp_directory_path() / "hiprtc-double-XXXXXX";
  if (!mkdtemp(folder.data())) return INTERNAL_ERROR;
  std::filesystem::path here(folder), plain = here / "plain.hip", text = here / "nomp.hip", object = here / "nomp.so";
  std::ofstream(plain) << program.source;
  auto expanded = printed(COMPILER " -x c++ -E -P " + plain.string()).first; /* macros may make kernels */
  std::ofstream(text) << "#include \"" DEVICE_H "\"\n#line 1 \"nomp.hip\"\n"
                      << program.source << "\n#line 1 \"nomp.hip, described\"\n"
                      << described(expanded);
  std::string command = COMPILER " -x c++ -O1 -ffp-contract=off -fvisibility=hidden -fPIC -shared" + options + " -o " +
                        object.c_str() + " " + text.c_str();
  auto [log, good] = printed(command);
  program.log = log;
  int status = good ? SUCCESS : COMPILATION;
  if (status == SUCCESS) program.code = read(object);
  std::filesystem::remove_all(here);
  return status;
}

#ifdef ON_CUDA
/* The cubin goes behind the ELF file, where the double of the runtime finds it. */
int compile_for_cuda(Program &program) {
  int major = 0, minor = 0;
  nvrtcProgram made;
  size_t size = 0;
  if (cuInit(0) || cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0) ||
      cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0) ||
      nvrtcCreateProgram(&made, program.source.c_str(), "nomp.hip", 0, nullptr, nullptr))
    return INTERNAL_ERROR;
  std::string target = "--gpu-architecture=sm_" + std::to_string(10 * major + minor);
  const char *options[] = {"--std=c++17", "-w", target.c_str()};
  int status = nvrtcCompileProgram(made, 3, options) ? COMPILATION : SUCCESS;
  if (status == SUCCESS && !nvrtcGetCUBINSize(made, &size)) {
    std::string cubin(size, 0);
    nvrtcGetCUBIN(made, cubin.data());
    program.code += cubin;
  } else if (!nvrtcGetProgramLogSize(made, &size)) {
    program.log.resize(size);
    nvrtcGetProgramLog(made, program.log.data());
  }
  nvrtcDestroyProgram(&made);
  return status;
}
#endif

} // namespace

extern "C" {

const char *hiprtcGetErrorString(int status) {
  switch (status) {
  case SUCCESS: return "HIPRTC_SUCCESS";
  case INVALID_INPUT: return "HIPRTC_ERROR_INVALID_INPUT";
  case COMPILATION: return "HIPRTC_ERROR_COMPILATION";
  default: return "HIPRTC_ERROR_INTERNAL_ERROR";
  }
}

int hiprtcCreateProgram(Program **made, const char *source, const char *, int headers, const char **, const char **) {
  if (!made || !source || headers) return INVALID_INPUT;
  *made = new Program{source, "", ""};
  return SUCCESS;
}

int hiprtcDestroyProgram(Program **program) {
  delete *program;
  *program = nullptr;
  return SUCCESS;
}

int hiprtcCompileProgram(Program *program, int count, const char **options) {
  bool known = false;
  std::string others;
  for (int i = 0; i < count; i++)
    if (!strcmp(options[i], ARCHITECTURE))
      known = true;
    else
      others += std::string(" ") + options[i];
  if (!known) {
    fprintf(stderr, "test double of hiprtc: unknown architecture\n");
    abort();
  }
  int status = compile(*program, others);
#ifdef ON_CUDA
  if (status == SUCCESS) status = compile_for_cuda(*program);
#endif
  return status;
}

int hiprtcGetProgramLogSize(Program *program, size_t *size) {
  *size = program->log.size() + 1;
  return SUCCESS;
}

int hiprtcGetProgramLog(Program *program, char *log) {
  memcpy(log, program->log.c_str(), program->log.size() + 1);
  return SUCCESS;
}

int hiprtcGetCodeSize(Program *program, size_t *size) {
  *size = program->code.size();
  return SUCCESS;
}

int hiprtcGetCode(Program *program, char *code) {
  memcpy(code, program->code.data(), program->code.size());
  return SUCCESS;
}

int hiprtcAddNameExpression(Program *, const char *) { return NOT_SUPPORTED; }
}
