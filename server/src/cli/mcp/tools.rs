//! The tools, and what each of them takes: one table, from which their JSON schemas and command lines are made.

use serde_json::{Map, Value, json};

/// A tool: a command of the command line.
#[derive(Debug)]
pub(super) struct Tool {
    /// The name of the command.
    pub(super) name: &'static str,
    /// What people read.
    title: &'static str,
    /// What an agent reads.
    description: &'static str,
    /// Whether it looks at a file or a text.
    pub(super) source: bool,
    /// What it takes beside that.
    pub(super) fields: &'static [&'static [Field]],
}

/// Something that a tool takes.
#[derive(Debug)]
pub(super) struct Field {
    /// Its name.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) kind: FieldKind,
    /// What an agent reads.
    help: &'static str,
}

/// What a field is, and how it is said on the command line.
#[derive(Debug)]
pub(super) enum FieldKind {
    /// An option without a value.
    Flag(&'static str),
    /// An option with a value.
    Text(&'static str),
    /// An option with a number.
    Number(&'static str),
    /// An option with one of these values.
    Choice(&'static str, &'static [&'static str]),
    /// An option that is given once for each member, as `NAME=VALUE`.
    Pairs(&'static str),
    /// A word of its own.
    Word,
}

use FieldKind::{Choice, Flag, Number, Pairs, Text, Word};

const fn field(name: &'static str, kind: FieldKind, help: &'static str) -> Field {
    Field { name, kind, help }
}

/// How kernels in Python are analysed.
const PYTHON: &[Field] = &[
    field(
        "set",
        Pairs("--set"),
        "Of kernels in Python: values of parameters, such as {\"num_slots\": 3, \"desc\": \"fp16[128,64]\"}",
    ),
    field(
        "target",
        Text("--target"),
        "Of kernels in Python: what they are compiled for: sm_80, sm_90, sm_100, gfx942, gfx950, gfx1250",
    ),
    field("triton", Text("--triton"), "Of kernels in Python: the release of Triton, such as 3.8"),
];

const SEMANTICS: Field = field(
    "semantics",
    Choice("--semantics", &["release", "fork"]),
    "By whose rules to judge where versions of Triton's sanitizer differ",
);

const KERNEL: Field = field("kernel", Text("--kernel"), "Only this kernel");

const CHECK: &[Field] = &[
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

const REPORT: &[Field] = &[
    KERNEL,
    field(
        "section",
        Text("--section"),
        "Of a dump: a section's number, a part of its pass's name, or `all`; with `diff` two, as `X..Y`",
    ),
    field("diff", Flag("--diff"), "What the passes between two sections did to edges, barriers and buffers"),
    SEMANTICS,
];

const TRACE: &[Field] = &[
    KERNEL,
    field("finding", Number("--finding"), "Only this finding, counted from 1"),
    field("all_steps", Flag("--all-steps"), "Draw repeated iterations of a long run too"),
    SEMANTICS,
];

const RUN: &[Field] = &[
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
    field("dry_run", Flag("--dry-run"), "Show how it would be launched, and launch nothing"),
    field(
        "backend",
        Choice("--backend", &["cpu", "triton"]),
        "What executes it; `triton` needs a server that was started with --python",
    ),
];

const EXPLAIN: &[Field] =
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
        source: true,
        fields: &[CHECK, PYTHON],
    },
    Tool {
        name: "report",
        title: "Barrier report of a kernel",
        description: "Says who waits for whom: partitions, barriers with index and phase, shared and tensor memory, and a coverage table \
                      with a row for each overwrite: `ordered`, `ordered only through` another buffer's barrier, or `MISSING`. Of a pass \
                      dump it lists the sections; `section` chooses.",
        source: true,
        fields: &[REPORT, PYTHON],
    },
    Tool {
        name: "trace",
        title: "The run that leads to a finding",
        description: "Draws the run of each finding as lanes, one a partition, time downwards, with the phases of each barrier; of a \
                      kernel without findings one of its runs. Use it to see why `check` says what it says.",
        source: true,
        fields: &[TRACE, PYTHON],
    },
    Tool {
        name: "explain",
        title: "What a kind of finding means",
        description: "The page of a kind or of another code: what it says, why it matters, a flagged kernel, its clean twin, the fix.",
        source: false,
        fields: &[EXPLAIN],
    },
    Tool {
        name: "run",
        title: "Run a kernel on the CPU under a sanitizer",
        description: "Executes a kernel with real tensors on the CPU, watched by the rules of ConSan and GSan, and says each assert at its \
                      place, beside what the analysis says. How it is launched comes from `grid` and `arguments`, a `fencepost-run:` \
                      comment, or what the file itself launches; `dry_run` shows it. One run shows one launch: that nothing asserts \
                      proves nothing.",
        source: true,
        fields: &[RUN, PYTHON],
    },
];

impl Tool {
    /// The tool of this name.
    pub(super) fn named(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// What it takes beside a source.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().copied().flatten()
    }

    /// Whether it takes something of this name.
    pub(super) fn takes(&self, name: &str) -> bool {
        name == "limit"
            || (self.source && (name == "path" || name == "text"))
            || self.fields().any(|it| it.name == name)
    }

    /// What a client is told of it.
    pub(super) fn described(&self) -> Value {
        let mut properties = Map::new();
        let mut add = |name: &str, schema: Value| properties.insert(name.to_owned(), schema);
        if self.source {
            let path = if self.name == "check" { "A file or a folder" } else { "A file" };
            let path = format!("{path}, best as an absolute path. With `text`: the file that the text stands for");
            add("path", json!({ "type": "string", "description": path }));
            add("text", json!({ "type": "string", "description": "The text to look at, in place of what is on disk" }));
        }
        for field in self.fields() {
            add(field.name, field.schema());
        }
        let limit = format!("Characters of the answer's text at most; {} by default", super::LIMIT);
        add("limit", json!({ "type": "integer", "minimum": 1000, "description": limit }));
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if self.source {
            schema["anyOf"] = json!([{ "required": ["path"] }, { "required": ["text"] }]);
        }
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": schema,
            "annotations": { "title": self.title, "readOnlyHint": true, "openWorldHint": false },
        })
    }
}

impl Field {
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Flag(_) => json!({ "type": "boolean" }),
            Text(_) | Word => json!({ "type": "string" }),
            Number(_) => json!({ "type": "number", "minimum": 0 }),
            Choice(_, values) => json!({ "type": "string", "enum": values }),
            Pairs(_) => {
                json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
            }
        };
        schema["description"] = json!(self.help);
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_once_and_each_schema_is_one() {
        for tool in TOOLS {
            let names: Vec<&str> = tool.fields().map(|field| field.name).collect();
            let mut once = names.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(names.len(), once.len(), "{}", tool.name);
            assert!(jsonschema::validator_for(&tool.described()["inputSchema"]).is_ok(), "{}", tool.name);
        }
    }
}
