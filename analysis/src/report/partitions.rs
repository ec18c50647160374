//! Partitions: what each of them is for.

use super::PartitionRow;
use super::trace::Trace;

/// One row a partition, default first.
pub(super) fn rows(trace: &Trace<'_>) -> Vec<PartitionRow> {
    let lowered = trace.lowered;
    let partitions = lowered.kernel.partitions.iter().enumerate();
    partitions
        .map(|(number, partition)| PartitionRow {
            label: lowered.map.partition(number),
            range: lowered.map.partitions.get(number).map(|(_, range)| *range).unwrap_or_default(),
            role: String::new(),
            key_ops: Vec::new(),
            warps: partition.warps,
        })
        .collect()
}
