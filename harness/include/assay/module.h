/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between the program `assay` and modules, shared libraries of benchmarks. Plain C: no
 * exception and no C++ type crosses it, so modules of other compilers work. Authors of benchmarks write
 * a C++ class, from which assay/define.hpp builds these tables; they do not need this
 * file.
 *
 * Rules of the interface
 *  - Every struct begins with its size. A reader uses only the fields inside that size; fields are
 *    added at the end and never moved. A change that breaks this raises ASSAY_MODULE_ABI.
 *  - Strings are UTF-8, end in NUL and live as long as the module is loaded.
 *  - Functions that can fail return 0 for success and 1 for failure with a sentence in the assay_text.
 *  - Quantities are SI base units: seconds, bytes, FLOP, hertz.
 */
#ifndef ASSAY_MODULE_H
#define ASSAY_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_MODULE_ABI 1u

/* A buffer owned by the caller. Text is truncated to fit and always ends in NUL. */
typedef struct assay_text {
    char* data;
    size_t capacity; /* bytes, the NUL included */
} assay_text;

enum assay_kind {
    ASSAY_INTEGER = 1, /* integer */
    ASSAY_REAL = 2,    /* real */
    ASSAY_BOOLEAN = 3, /* integer is 0 or 1 */
    ASSAY_NAME = 4,  /* text is one of the parameter's names: of an enumeration, or a symbol such as
                          `all` for a machine-dependent integer */
    ASSAY_STRING = 5 /* any text */
};

typedef struct assay_value {
    uint32_t kind; /* enum assay_kind */
    uint32_t reserved;
    int64_t integer;
    double real;
    const char* text;
} assay_value;

/* An environment variable that a parameter value is set through, because a library reads it when it is
   loaded. The program sets it before it starts the worker and overrides the user's environment. A value
   may have several. */
typedef struct assay_variable {
    uint32_t struct_size;
    uint32_t reserved;
    const char* value;   /* of the parameter, as text: "tcp" */
    const char* name;    /* OMPI_MCA_btl */
    const char* setting; /* "self,tcp" */
} assay_variable;

/* A parameter of a benchmark: type, range and default values. */
typedef struct assay_parameter {
    uint32_t struct_size;
    uint32_t kind;       /* enum assay_kind; ASSAY_NAME for an enumeration */
    const char* name;    /* snake_case */
    const char* help;    /* one line */
    const char* unit;    /* "B", "s", "" for a count */
    int64_t integer_low; /* inclusive; integers only */
    int64_t integer_high;
    double real_low; /* inclusive; reals only */
    double real_high;
    const char* const* names; /* enumeration: its values; integer: the symbols it also takes */
    size_t name_count;
    const assay_value* defaults;
    size_t default_count; /* at least 1 */
    const assay_variable* variables;
    size_t variable_count;
} assay_parameter;

/* Work of one call of run(); the harness divides it by time. 0: does not apply. */
typedef struct assay_work {
    uint32_t struct_size;
    uint32_t reserved;
    double flops;           /* floating point operations; an FMA is 2 */
    double operations;      /* integer operations; a multiply-add is 2 */
    double bytes;           /* bytes that the algorithm reads and writes, without write-allocate */
    double algorithm_bytes; /* collectives: message bytes */
    double bus_bytes;       /* collectives: algorithm_bytes times the bus factor */
    double items;           /* images, tokens, messages, steps */
    double cells;           /* stencil cell updates */
    double atom_steps;      /* molecular dynamics: atoms times steps */
    double pairs;           /* molecular dynamics: interacting pairs */
    double steps;           /* dependent steps whose latency is measured: loads of a pointer chase,
                               round trips, system calls */
} assay_work;

/* The outcome of verify(). error and bound share one scale: passed means error <= bound. */
typedef struct assay_check {
    uint32_t struct_size;
    int32_t passed;
    double error;
    double bound;
    assay_text method; /* how it was verified and where the bound comes from */
    assay_text detail; /* what is wrong, on failure */
} assay_check;

/* Processes that measure together. Supplied by the module that launches them. */
typedef struct assay_team {
    uint32_t struct_size;
    int32_t rank;
    int32_t size;
    int32_t reserved;
    void* context;
    void (*barrier)(void* context);
    void (*max)(void* context, double* values,
                size_t count); /* element-wise, result on every rank */
    void (*broadcast)(void* context, void* data, size_t bytes); /* from rank 0 */
} assay_team;

/* The links that the data of a case takes. */
enum assay_links {
    ASSAY_LINKS_UNKNOWN = 0,
    ASSAY_LINKS_HOST = 1,   /* of a device to its host */
    ASSAY_LINKS_NVLINK = 2, /* between devices */
    ASSAY_LINKS_PEER = 3,   /* between devices: NVLink where it is up, otherwise PCIe */
    ASSAY_LINKS_OTHER = 4   /* a network, or several of these */
};

/* Facts about a case that the program acts on: it computes bounds, checks hardware counters and plans the
   window. 0 and NULL are unknown and keep the earlier value; texts are copied. Passed in create() or
   verify(). */
typedef struct assay_evidence {
    uint32_t struct_size;
    uint32_t links;              /* enum assay_links */
    double footprint_bytes;      /* memory that one pass over the data touches */
    double cache_bytes;          /* last cache of the device, as the device reports it */
    uint32_t directions;         /* of the links in use at once: 1 or 2; 0 is 1 */
    uint32_t machines;           /* that take part */
    uint32_t ranks;              /* that take part */
    uint32_t nvlink_devices;     /* number of devices that the next two refer to */
    double nvlink_least_bytes;   /* of NVLink traffic in a call, average per device, in the busier
                                      direction */
    double nvlink_most_bytes;    /* the same, at most; below 0: none */
    double batch_seconds;        /* minimum length of a batch */
    double load_seconds;         /* minimum length of the load before the window */
    const char* switch_work;     /* algorithm or kernel that offloads work to the NVLink switch */
    const char* network_devices; /* "mlx5_0:1, mlx5_1:1" */
} assay_evidence;

/* A matrix of values: core to core, node to node. */
typedef struct assay_table {
    uint32_t struct_size;
    uint32_t reserved;
    const char* metric; /* name in the table of metrics, which has unit and direction */
    const char* row_title;
    const char* column_title;
    const char* const* rows; /* labels */
    size_t row_count;
    const char* const* columns;
    size_t column_count;
    const double* values; /* row-major; NaN if absent */
} assay_table;

enum assay_log_level { ASSAY_LOG_NOTE = 0, ASSAY_LOG_WARNING = 1 };

/* Functions of the program for modules. Valid from the call that passes it until destroy(). */
typedef struct assay_services {
    uint32_t struct_size;
    uint32_t abi; /* ASSAY_MODULE_ABI of the program */
    void* context;
    /* Facts of the machine by name; NaN or NULL if unknown. assay/machine.hpp lists the
       names. */
    double (*fact)(void* context, const char* name);
    const char* (*fact_text)(void* context, const char* name);
    /* A resolved value: recorded with the result, not part of its identity. */
    void (*setting_number)(void* context, const char* name, double value);
    void (*setting_text)(void* context, const char* name, const char* value);
    /* A value that only the benchmark knows. The name must be in the table of metrics. */
    void (*metric)(void* context, const char* name, double value);
    void (*log)(void* context, int32_t level, const char* text);
    const assay_team* team; /* NULL: this process measures alone */
    void (*table)(void* context, const assay_table* table);
    void (*evidence)(void* context, const assay_evidence* evidence);
} assay_services;

enum assay_benchmark_flags {
    ASSAY_REWINDS = 1,      /* run() changes its inputs; rewind() restores them */
    ASSAY_SINGLE_CALL = 2,  /* one call per batch: cold caches, or a whole cycle of work */
    ASSAY_TEAM = 4,         /* measured by several processes; takes a parameter `ranks` */
    ASSAY_IS_CEILING = 8,   /* its primary metric is a peak that others are compared with */
    ASSAY_ALL_DEVICES = 16, /* sees all devices; others see one */
    ASSAY_LONG_CALLS =
        64, /* a call takes seconds: one is a window, and it is the one that is checked */
    ASSAY_REPRODUCIBLE =
        32 /* with equal parameters and as many threads, every call gives the same bits, in every
                               process and on every device of one model; needs digest() */
};

/* Most blocks that a digest may have. */
#define ASSAY_MOST_BLOCKS 2048u

/* The whole output of a call as a hash for each of its blocks, which are the same ones on every call; any change of a
   block changes its hash. The caller provides the room. */
typedef struct assay_digest {
    uint32_t struct_size;
    uint32_t output;        /* out, of the block `wanted`: number of its output, from 0 */
    uint64_t* hashes;       /* NULL: not wanted */
    size_t capacity;        /* of hashes: ASSAY_MOST_BLOCKS */
    size_t count;           /* out: blocks of all outputs */
    size_t wanted;          /* the block that the rest is about */
    void* bytes;            /* where to copy it; NULL: not wanted */
    size_t byte_capacity;   /* too small: nothing is copied */
    size_t byte_count;      /* out: its size */
    size_t element_bytes;   /* out: of one of its elements */
    uint64_t first_element; /* out: index of its first element within its output */
} assay_digest;

/* The datasheet peak that bounds the primary metric. The program computes the bound from it and from the
   evidence of the case. */
enum assay_bound {
    ASSAY_BOUND_NONE = 0,
    ASSAY_BOUND_VECTOR_UNITS = 1, /* vector arithmetic in the parameter `precision` */
    ASSAY_BOUND_MATRIX_UNITS = 2, /* the same on matrix units */
    ASSAY_BOUND_MEMORY = 3,       /* memory of a device or host, beyond its last cache */
    ASSAY_BOUND_HOST_LINK = 4,    /* the link of one device to its host; directions */
    ASSAY_BOUND_DEVICE_LINKS =
        5,                  /* links between devices; links, directions, machines, switch_work */
    ASSAY_BOUND_NETWORK = 6 /* between two machines; network_devices, directions, machines, ranks */
};

/* How values of one benchmark spread by their nature: between processes on a quiet machine, and between runs on one
   that is shared with others. The program's intervals and comparisons start from it. */
enum assay_noise {
    ASSAY_NOISE_UNKNOWN = 0,
    ASSAY_NOISE_ARITHMETIC = 1, /* matrix products, peaks: bound by execution units */
    ASSAY_NOISE_MEMORY = 2,     /* bound by the bandwidth of memory or of a link */
    ASSAY_NOISE_WORKLOAD = 3,   /* mixed: molecular dynamics, layers of a model */
    ASSAY_NOISE_FFT = 4,
    ASSAY_NOISE_MESSAGES = 5, /* between processes or devices */
    ASSAY_NOISE_LATENCY = 6   /* of one access or call */
};

typedef struct assay_benchmark {
    uint32_t struct_size;
    uint32_t version;  /* raised when values are no longer comparable with older ones */
    const char* id;    /* <family>.<name> */
    const char* place; /* "host", "cuda" */
    const char* question;
    const char* method;
    const char* caveats;
    const char* headline; /* name of the primary metric */
    /* Ids of benchmarks that measure its peak, blank-separated; "" for none. "peak.fma:precision=fp32": of its cases
       those with this value, whatever the judged case has. */
    const char* ceiling;
    uint64_t flags;      /* enum assay_benchmark_flags */
    uint64_t safe_calls; /* calls that may follow one rewind(); 0: no limit */
    const assay_parameter* parameters;
    size_t parameter_count;
    /* Values are in the order of `parameters`. fit: 0 yes, 1 no with the reason. */
    int32_t (*fit)(const assay_services* services, const assay_value* values, assay_text* why);
    int32_t (*create)(const assay_services* services, const assay_value* values, void** state,
                      assay_text* error);
    void (*destroy)(void* state);
    /* Runs `calls` times; the elapsed time by the clock of host or device. */
    int32_t (*sample)(void* state, uint64_t calls, double* seconds, assay_text* error);
    int32_t (*work)(const void* state, assay_work* work, assay_text* error);
    int32_t (*verify)(const void* state, assay_check* check, assay_text* error);
    int32_t (*poison)(void* state, assay_text* error); /* overwrites the whole output */
    int32_t (*spoil)(void* state,
                     assay_text* error); /* injects the smallest error that verify() must detect */
    int32_t (*rewind)(void* state, assay_text* error); /* NULL without ASSAY_REWINDS */
    int32_t (*metrics)(const void* state, const assay_services* services,
                       assay_text* error); /* may be NULL */
    double clock_resolution; /* of the clock that sample() reads, in seconds: its cost and smallest
                                difference; 0: the host's steady clock */
    int64_t trial_bytes;     /* for parameters in bytes in tests: reaches every kernel and takes
                            milliseconds; 0: a few MiB */
    uint32_t bound;          /* enum assay_bound */
    uint32_t noise;          /* enum assay_noise; 0 in modules from before there was one */
    const char* items; /* what assay_work.items counts, in the plural: "keys"; NULL or "": items */
    /* Digest of the output as the last call left it; may be NULL. A call with neither hashes nor bytes wanted tells the sizes. */
    int32_t (*digest)(const void* state, assay_digest* digest, assay_text* error);
    /* Metrics that metrics() gives, as "latency_p99=s iops=1/s": names in the table of metrics and their units there. NULL or "":
       not said. */
    const char* metrics_given;
    const char*
        packages; /* Debian packages of the programs that it starts, blank-separated; NULL or "": none */
} assay_benchmark;

/* An environment variable that a library reads when it is loaded and that changes its speed. The
   program tries the values in short trials and measures with the fastest. */
typedef struct assay_tuning {
    uint32_t struct_size;
    uint32_t reserved;
    const char* variable; /* OPENBLAS_CORETYPE */
    const char* value;    /* SkylakeX */
    const char*
        requires_isa; /* instruction sets this value needs, blank-separated: "avx512f avx512bw" */
} assay_tuning;

typedef struct assay_module_v1 {
    uint32_t struct_size;
    uint32_t abi;     /* ASSAY_MODULE_ABI it was built with */
    const char* name; /* of the backend: "host", "openblas", "mpi" */
    const assay_benchmark* const* benchmarks;
    size_t benchmark_count;
    const assay_tuning* tunings;
    size_t tuning_count;
    const char* launcher; /* "" for a single process, "mpirun" for a team */
    /* Reports library versions and choices through setting_text(); may be NULL. */
    int32_t (*facts)(const assay_services* services, assay_text* error);
    /* Joins the team of this process; NULL if the module has no teams. */
    const assay_team* (*join)(assay_text* error);
    void (*leave)(void);
    /* The environment variable that names the folders of a module whose table is also made from files. Where it is
       set, the program asks the module itself for its table, not its manifest. */
    const char* path_variable;
    const char* table_id; /* what the table was made from, as a hash: a part of the build's id */
    const char* const* problems; /* sentences on files that it could not use */
    size_t problem_count;
} assay_module_v1;

/* The one symbol a module exports. */
#if defined(__GNUC__)
#define ASSAY_EXPORT __attribute__((visibility("default")))
#else
#define ASSAY_EXPORT
#endif
typedef const assay_module_v1* (*assay_module_function)(void);

#ifdef __cplusplus
}
#endif
#endif
