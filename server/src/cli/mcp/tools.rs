//! The tools, and what each of them takes beside a file or a text.

use mcp::FieldKind::{Choice, Flag, Number, Pairs, Text, Word};
use mcp::{Parameter, Tool};

const fn field(name: &'static str, kind: mcp::FieldKind, help: &'static str) -> Parameter {
    Parameter::new(name, kind, help)
}

/// How kernels in Python are analysed.
const PYTHON: &[Parameter] = &[
    field(
        "set",
        Pairs("--set"),
        "Of kernels in Python: values of parameters, such as {\"num_slots\": 3, \"desc\": \"fp16[128,64]\"}",
    ),
    field(
        "target",
        Text("--target"),
        "Of kernels in Python: what they are compiled for: sm_80, sm_90, sm_100, sm_120, gfx942, gfx950, gfx1250",
    ),
    field("triton", Text("--triton"), "Of kernels in Python: the release of Triton, such as 3.8"),
];

const SEMANTICS: Parameter = field(
    "semantics",
    Choice("--semantics", &["release", "fork"]),
    "By whose rules to judge where versions of Triton's sanitizer differ",
);

const KERNEL: Parameter = field("kernel", Text("--kernel"), "Only this kernel");

const CHECK: &[Parameter] = &[
    SEMANTICS,
    field("explain_proof", Flag("--explain-proof"), "Say of each kernel what its verdict rests on"),
    field("no_suppress", Flag("--no-suppress"), "Show findings that a `fencepost: ignore[…]` comment suppresses"),
    field("baseline", Text("--baseline"), "A file of findings that are known; they are counted and not shown"),
    field(
        "changed_since",
        Text("--changed-since"),
        "Only kernels that a change since this git revision concerns; the others get no verdict",
    ),
];

const REPORT: &[Parameter] = &[
    KERNEL,
    field(
        "section",
        Text("--section"),
        "Of a dump: a section's number, a part of its pass's name, or `all`; with `diff` two, as `X..Y`",
    ),
    field("diff", Flag("--diff"), "What the passes between two sections did to edges, barriers and buffers"),
    SEMANTICS,
];

const TRACE: &[Parameter] = &[
    KERNEL,
    field("finding", Number("--finding"), "Only this finding, counted from 1"),
    field("all_steps", Flag("--all-steps"), "Draw repeated iterations of a long run too"),
    SEMANTICS,
];

const RUN: &[Parameter] = &[
    KERNEL,
    field("grid", Text("--grid"), "Programs along x, y, z: `4` or `4,4`"),
    field("arguments", Pairs("--arg"), "Arguments, such as {\"M\": 256, \"x\": \"f16[256,64]:uniform(-1,1)\"}"),
    field("instrument", Choice("--instrument", &["consan", "gsan", "both", "none"]), "Who watches"),
    field("seed", Number("--seed"), "Seed of random inputs and of the schedule"),
    field(
        "seeds",
        Number("--seeds"),
        "So many schedules on the same inputs: outputs that differ are the sign of a race",
    ),
    field("time", Number("--time"), "Seconds until the kernel counts as hung"),
    field("memory", Text("--memory"), "Memory that the run may hold, such as `512M`; 4G by default"),
    field("dry_run", Flag("--dry-run"), "Show how it would be launched, and launch nothing"),
    field(
        "backend",
        Choice("--backend", &["cpu", "triton"]),
        "What executes it; `triton` needs a server that was started with --python",
    ),
];

const EXPLAIN: &[Parameter] =
    &[field("kind", Word, "A kind of finding or another code, such as `deadlock`; without it all are listed")];

/// All tools.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "check",
        title: "Check GPU kernels for barrier bugs",
        description: "Finds races, deadlocks, phase mismatches, missing fences and uninitialised reads in kernels of Gluon and Triton \
                      (Python), TTIR and TTGIR, without a GPU and without running anything. Give `path` (a file, or a folder), or `text`. \
                      Each kernel has a verdict: `proved` (no finding for any trip count and schedule), `clean` (none for the inputs that \
                      were run), `found`, or `undecided` (something was not followed: this is NOT clean). A finding has its sites in \
                      order, the run that leads there, and often a fix that was checked. Check again after each edit.",
        source: Some("A file or a folder"),
        read_only: true,
        fields: &[CHECK, PYTHON],
    },
    Tool {
        name: "report",
        title: "Barrier report of a kernel",
        description: "Says who waits for whom: partitions, barriers with index and phase, shared and tensor memory, and a coverage table \
                      with a row for each overwrite: `ordered`, `ordered only through` another buffer's barrier, or `MISSING`. Of a pass \
                      dump it lists the sections; `section` chooses.",
        source: Some("A file"),
        read_only: true,
        fields: &[REPORT, PYTHON],
    },
    Tool {
        name: "trace",
        title: "The run that leads to a finding",
        description: "Draws the run of each finding as lanes, one a partition, time downwards, with the phases of each barrier; of a \
                      kernel without findings one of its runs. Use it to see why `check` says what it says.",
        source: Some("A file"),
        read_only: true,
        fields: &[TRACE, PYTHON],
    },
    Tool {
        name: "explain",
        title: "What a kind of finding means",
        description: "The page of a kind or of another code: what it says, why it matters, a flagged kernel, its clean twin, the fix.",
        source: None,
        read_only: true,
        fields: &[EXPLAIN],
    },
    Tool {
        name: "run",
        title: "Run a kernel on the CPU under a sanitizer",
        description: "Executes a kernel with real tensors on the CPU, watched by the rules of ConSan and GSan, and says each assert at its \
                      place, beside what the analysis says. How it is launched comes from `grid` and `arguments`, a `fencepost-run:` \
                      comment, or what the file itself launches; `dry_run` shows it. One run shows one launch: that nothing asserts \
                      proves nothing.",
        source: Some("A file"),
        read_only: false,
        fields: &[RUN, PYTHON],
    },
];
