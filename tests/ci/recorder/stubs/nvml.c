/* A driver library without a driver: the calls that nvidia-ml-py makes, answered from a text file.
 *
 * NVML_STUB_STATE names the file; it is read anew at each call. One thing a line:
 *   gpu UUID TOTAL RESERVED MIG      a device; MIG is 1 where it is cut into slices
 *   slice UUID TOTAL                 a slice of the GPU above
 *   process PID BYTES                memory of the device above, in the driver's list
 *   unlisted BYTES                   memory of the device above that no listed process holds
 *   name TEXT                        what the device above is called, if not Stub GPU
 *   nolist                           the device above lists no processes at all
 * In the environment: NVML_STUB_OLD, a driver that tells nothing of what it keeps; NVML_STUB_SHARED, a device without
 * memory of its own; NVML_STUB_FAILS, the code that starting and reading fail with.
 * Layouts and numbers are those of nvml.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, SMALL = 7, MOST = 16 };

typedef unsigned long long u64;
typedef struct { unsigned pid; u64 used; unsigned gi, ci; } process_t;
typedef struct { char uuid[96], name[96]; u64 total, reserved, unlisted; int mig, slice_of, nolist, count; process_t list[MOST]; } device_t;
typedef struct { u64 total, free, used; } memory_t;
typedef struct { unsigned version; u64 total, reserved, free, used; } memory2_t;

static device_t devices[MOST];
static int known;

static void load(void) {
  char line[256];
  FILE *file = fopen(getenv("NVML_STUB_STATE"), "r");
  int gpu = -1;
  known = 0;
  if (!file) return;
  while (fgets(line, sizeof line, file)) {
    device_t *last = &devices[known - 1];
    process_t *process = known ? &last->list[last->count] : NULL;
    device_t *next = &devices[known];
    memset(next, 0, sizeof *next);
    if (sscanf(line, "gpu %95s %llu %llu %d", next->uuid, &next->total, &next->reserved, &next->mig) == 4) {
      next->slice_of = -1;
      gpu = known++;
    } else if (sscanf(line, "slice %95s %llu", next->uuid, &next->total) == 2) {
      next->slice_of = gpu;
      known++;
    } else if (process && sscanf(line, "process %u %llu", &process->pid, &process->used) == 2) {
      last->count++;
    } else if (known && sscanf(line, "name %95[^\n]", last->name) == 1) {
    } else if (known && !strncmp(line, "nolist", 6)) {
      last->nolist = 1;
    } else if (known) {
      sscanf(line, "unlisted %llu", &last->unlisted);
    }
  }
  fclose(file);
}

static u64 used(const device_t *device) {
  u64 sum = device->unlisted;
  for (int i = 0; i < device->count; i++) sum += device->list[i].used;
  return sum;
}

static device_t *at(void *handle) { return &devices[(size_t)handle - 1]; }

static int nth(unsigned index, int slice_of, void **handle) {
  for (int i = 0; i < known; i++)
    if (devices[i].slice_of == slice_of && !index--) { *handle = (void *)(size_t)(i + 1); return SUCCESS; }
  return NOT_FOUND;
}

static int fails(void) { const char *code = getenv("NVML_STUB_FAILS"); return code ? atoi(code) : 0; }

int nvmlInitWithFlags(unsigned flags) { (void)flags; load(); return fails() ? fails() : known ? SUCCESS : 9; }
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return SUCCESS; }
const char *nvmlErrorString(int code) { (void)code; return "said by the stub"; }

int nvmlDeviceGetCount_v2(unsigned *count) {
  load();
  *count = 0;
  for (int i = 0; i < known; i++) *count += devices[i].slice_of < 0;
  return SUCCESS;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) { return nth(index, -1, handle); }
int nvmlDeviceGetUUID(void *handle, char *text, unsigned size) { snprintf(text, size, "%s", at(handle)->uuid); return SUCCESS; }
int nvmlDeviceGetName(void *handle, char *text, unsigned size) { const char *name = at(handle)->name; snprintf(text, size, "%s", *name ? name : "Stub GPU"); return SUCCESS; }

int nvmlDeviceGetMigMode(void *handle, unsigned *now, unsigned *pending) {
  *now = *pending = (unsigned)at(handle)->mig;
  return SUCCESS;
}
int nvmlDeviceGetMaxMigDeviceCount(void *handle, unsigned *count) { (void)handle; *count = 7; return SUCCESS; }
int nvmlDeviceGetMigDeviceHandleByIndex(void *handle, unsigned index, void **slice) {
  return nth(index, (int)((size_t)handle - 1), slice);
}

int nvmlDeviceGetMemoryInfo(void *handle, memory_t *memory) {
  load();
  if (fails()) return fails();
  if (getenv("NVML_STUB_SHARED")) return NOT_SUPPORTED;
  memory->total = at(handle)->total;
  memory->used = used(at(handle)) + at(handle)->reserved;
  memory->free = memory->total - memory->used;
  return SUCCESS;
}
int nvmlDeviceGetMemoryInfo_v2(void *handle, memory2_t *memory) {
  load();
  if (fails()) return fails();
  if (getenv("NVML_STUB_OLD")) return INVALID;
  if (getenv("NVML_STUB_SHARED")) return NOT_SUPPORTED;
  memory->total = at(handle)->total;
  memory->reserved = at(handle)->reserved;
  memory->used = used(at(handle));
  memory->free = memory->total - memory->reserved - memory->used;
  return SUCCESS;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *handle, unsigned *count, process_t *list) {
  load();
  unsigned room = *count;
  if (at(handle)->nolist) return NOT_SUPPORTED;
  *count = (unsigned)at(handle)->count;
  if (room < *count) return SMALL;
  for (unsigned i = 0; i < *count; i++) list[i] = at(handle)->list[i];
  return SUCCESS;
}
