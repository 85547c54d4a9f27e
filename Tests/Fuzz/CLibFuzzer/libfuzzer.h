#pragma once
#include <stddef.h>
#include <stdint.h>

// The entry of libFuzzer, which has no header of its own (FuzzerInterface.h of LLVM declares it).
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
