/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules that are not as they should be, one for each value of ODD. C, because a module may be.
 */
#include <assay/module.h>

#include <stddef.h>

static int32_t fine(const assay_services* services, const assay_value* values, assay_text* why) {
    (void)services, (void)values, (void)why;
    return 0;
}
static int32_t create(const assay_services* services, const assay_value* values, void** state,
                      assay_text* error) {
    (void)services, (void)values, (void)error;
    *state = NULL;
    return 0;
}
static void destroy(void* state) { (void)state; }
static int32_t sample(void* state, uint64_t calls, double* seconds, assay_text* error) {
    (void)state, (void)calls, (void)error;
    *seconds = 1;
    return 0;
}
static int32_t work(const void* state, assay_work* to, assay_text* error) {
    (void)state, (void)to, (void)error;
    return 0;
}
static int32_t verify(const void* state, assay_check* to, assay_text* error) {
    (void)state, (void)to, (void)error;
    return 0;
}
static int32_t change(void* state, assay_text* error) {
    (void)state, (void)error;
    return 0;
}

static const assay_value one = {ASSAY_INTEGER, 0, 1, 0, NULL};

/* An older interface had no defaults after the names in this test's imagination: the size says so. */
struct short_parameter { // NOLINT(readability-identifier-naming): as in C
    uint32_t struct_size;
    uint32_t kind;
    const char* name;
};
static const struct short_parameter short_parameters[2] = {
    {sizeof(struct short_parameter), ASSAY_INTEGER, "first"},
    {sizeof(struct short_parameter), ASSAY_INTEGER, "second"}};

static assay_parameter parameter = {.struct_size = sizeof(assay_parameter),
                                    .kind = ASSAY_INTEGER,
                                    .name = "n",
                                    .help = "a number",
                                    .unit = "",
                                    .integer_low = 1,
                                    .integer_high = 9,
                                    .defaults = &one,
                                    .default_count = 1};

static assay_benchmark benchmark = {.struct_size = sizeof(assay_benchmark),
                                    .version = 1,
                                    .id = "odd.one",
                                    .place = "host",
                                    .question = "Why?",
                                    .method = "So.",
                                    .caveats = "None.",
                                    .headline = "time",
                                    .ceiling = "",
                                    .parameters = &parameter,
                                    .parameter_count = 1,
                                    .fit = fine,
                                    .create = create,
                                    .destroy = destroy,
                                    .sample = sample,
                                    .work = work,
                                    .verify = verify,
                                    .poison = change,
                                    .spoil = change};

static const assay_benchmark* benchmarks[2] = {&benchmark, &benchmark};

static assay_module_v1 module = {
    sizeof(assay_module_v1), ASSAY_MODULE_ABI, "odd", benchmarks, 1, NULL, 0, "", NULL, NULL, NULL};

ASSAY_EXPORT const assay_module_v1* assay_module(void);
const assay_module_v1* assay_module(void) {
#if ODD == 1 /* wrong version */
    module.abi = 2;
#elif ODD == 2  /* no table */
    return NULL;
#elif ODD == 3  /* a table that ends before its launcher */
    module.struct_size = offsetof(assay_module_v1, launcher);
    module.launcher = (const char*)1;
    module.facts = (int32_t (*)(const assay_services*, assay_text*))1;
#elif ODD == 4  /* parameters of a shorter layout */
    benchmark.parameters = (const assay_parameter*)short_parameters;
    benchmark.parameter_count = 2;
#elif ODD == 5  /* a function is missing */
    benchmark.sample = NULL;
#elif ODD == 6  /* twice the same */
    module.benchmark_count = 2;
#elif ODD == 7  /* a hole in the list */
    benchmarks[0] = NULL;
#elif ODD == 8  /* a count that cannot be */
    benchmark.parameter_count = (size_t)-1;
#elif ODD == 9  /* an entry without a size */
    parameter.struct_size = 0;
#elif ODD == 10 /* texts are missing */
    benchmark.id = NULL;
    benchmark.question = NULL;
    module.name = NULL;
#elif ODD == 11 /* an unknown kind */
    parameter.kind = 99;
#elif ODD == 13 /* of an interface without digests */
    benchmark.struct_size = offsetof(assay_benchmark, digest);
    benchmark.flags = ASSAY_REPRODUCIBLE;
    benchmark.digest = (int32_t (*)(const void*, assay_digest*, assay_text*))1;
#endif
    (void)short_parameters;
    return &module;
}
