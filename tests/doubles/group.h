/* One group of items on the CPU: each item runs until it ends or waits at a barrier, then the next one does. */
#pragma once

#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

struct dim3 {
  unsigned x, y, z;
};

/* See device.h. */
struct double_entry {
  void (*run)(const char *arguments);
  unsigned arguments_size, max_items;
};

class Group {
public:
  /* The group's place is in variables of the library that has the kernel. */
  explicit Group(void *library)
      : item_((dim3 *)dlsym(library, "threadIdx")), group_((dim3 *)dlsym(library, "blockIdx")),
        items_((dim3 *)dlsym(library, "blockDim")), groups_((dim3 *)dlsym(library, "gridDim")) {
    *(void (**)())dlsym(library, "double_barrier") = barrier;
  }

  void run(const double_entry &entry, dim3 groups, dim3 group, dim3 items, const char *arguments) {
    *groups_ = groups, *group_ = group, *items_ = items;
    entry_ = &entry, arguments_ = arguments, running_ = this;
    size_t count = size_t(items.x) * items.y * items.z, left = count;
    std::vector<Item> fresh(count);
    started_.swap(fresh);
    for (size_t number = 0; number < count; number++) start(started_[number], number);
    while (left) {
      left = 0;
      for (now_ = 0; now_ < count; now_++) {
        if (started_[now_].ended) continue;
        *item_ = {unsigned(now_ % items.x), unsigned(now_ / items.x % items.y), unsigned(now_ / items.x / items.y)};
        swapcontext(&host_, &started_[now_].place);
        left += !started_[now_].ended;
      }
    }
  }

private:
  struct Item {
    ucontext_t place;
    bool ended = false;
  };

  static constexpr size_t STACK = 256 << 10;

  static void barrier() { swapcontext(&running_->started_[running_->now_].place, &running_->host_); }

  static void item() {
    running_->entry_->run(running_->arguments_);
    running_->started_[running_->now_].ended = true;
  }

  void start(Item &made, size_t number) {
    static std::vector<void *> stacks; /* of all groups: one runs at a time */
    if (stacks.size() <= number)
      stacks.push_back(mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    getcontext(&made.place);
    made.place.uc_stack.ss_sp = stacks[number];
    made.place.uc_stack.ss_size = STACK;
    made.place.uc_link = &host_;
    makecontext(&made.place, item, 0);
  }

  inline static Group *running_;
  dim3 *item_, *group_, *items_, *groups_;
  const double_entry *entry_ = nullptr;
  const char *arguments_ = nullptr;
  ucontext_t host_;
  std::vector<Item> started_;
  size_t now_ = 0;
};
