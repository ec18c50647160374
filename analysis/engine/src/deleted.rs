//! Reads whose registers nobody uses: Triton deletes them before the kernel runs.

use base::{Message, message};
use findings::KernelReport;
use ttgir::{OpId, Tree};

/// Ops that do nothing but read memory into registers.
const READS: &[&str] = &["ttg.local_load", "ttg.local_gather", "ttng.tmem_load"];

/// Says of each finding on such a read that the read goes away, and the finding with it.
pub(crate) fn note_deleted_reads(tree: &Tree, report: &mut KernelReport<Message>) {
    for finding in &mut report.findings {
        let deleted = finding.sites.iter().filter_map(|site| tree.op_at(site.range.start)).any(|op| deleted(tree, op));
        if deleted {
            let message = std::mem::take(&mut finding.message);
            finding.message = message!("{message} (nobody uses what is read, and Triton deletes such a read)", message);
        }
    }
}

fn deleted(tree: &Tree, op: OpId) -> bool {
    let results = tree.results(op);
    READS.contains(&tree.op_name(op))
        && !results.is_empty()
        && results.iter().all(|result| tree.uses(*result).is_empty())
}
