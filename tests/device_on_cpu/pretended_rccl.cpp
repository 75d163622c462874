// SPDX-License-Identifier: Apache-2.0
//
// A library of RCCL's name that has next to nothing of it.

extern "C" int ncclGetVersion(int* version) { // NOLINT(readability-identifier-naming)
    *version = 2708;                          // before 2.9 the number had other digits
    return 0;
}
