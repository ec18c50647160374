//! The ops of elaborated kernels that come from a line of Python.

use std::sync::Arc;

use base::TextRange;
use gluon::FileId;

use engine::instances::{ElaboratedInstance, Elaboration};

/// Ops of one instance that come from a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedOps {
    /// The kernel.
    pub kernel: String,
    /// Which of its instances; empty where there is one.
    pub instance: String,
    /// The ops as the elaborated module has them, regions and locations left out.
    pub ops: Vec<String>,
    /// Where they come from in the file, in the order of the text.
    pub ranges: Vec<TextRange>,
}

/// The ops of a line of a Python file, of the first instance of each kernel that has any. `line` is the line's range.
pub fn linked_ops(of: &Elaboration, line: TextRange) -> Vec<LinkedOps> {
    of.kernels.iter().filter_map(|kernel| kernel.instances.iter().find_map(|instance| linked(instance, line))).collect()
}

fn linked(elaborated: &Arc<ElaboratedInstance>, line: TextRange) -> Option<LinkedOps> {
    let tree = elaborated.tree()?;
    let mut found = LinkedOps {
        kernel: elaborated.kernel_name().to_owned(),
        instance: elaborated.instance.label.clone(),
        ops: Vec::new(),
        ranges: Vec::new(),
    };
    for (start, origin) in &elaborated.origins().ops {
        let Some(origin) = elaborated.origins().origins.get(origin.0 as usize) else { continue };
        let begins = |range: TextRange| line.start <= range.start && range.start <= line.end;
        let frames = || elaborated.origins().frames(origin).filter(|frame| !frame.iteration && frame.file == FileId(0));
        let here = if origin.file == FileId(0) && begins(origin.range) {
            Some(origin.range)
        } else {
            frames().map(|frame| frame.range).find(|range| begins(*range))
        };
        let Some(range) = here else { continue };
        let Some(op) = tree.op_at(*start) else { continue };
        let text = tree.op_header_range(op).of(tree.text());
        let text = text.split(" loc(").next().unwrap_or(text).lines().next().unwrap_or("").trim();
        found.ops.push(text.to_owned());
        found.ranges.push(range);
    }
    found.ranges.sort();
    found.ranges.dedup();
    (!found.ops.is_empty()).then_some(found)
}
