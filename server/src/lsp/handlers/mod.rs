//! One file a request. A handler turns a [`Snapshot`](super::snapshot::Snapshot), which never changes, and the
//! request's parameters into its answer; [`Service`](super::service::Service) routes.

pub(crate) mod call_hierarchy;
pub(crate) mod code_action;
pub(crate) mod code_lens;
pub(crate) mod completion;
pub(crate) mod deferred;
pub(crate) mod definition;
pub(crate) mod diagnostic;
pub(crate) mod document_link;
pub(crate) mod document_symbol;
pub(crate) mod execute_command;
pub(crate) mod explain;
pub(crate) mod finding_run;
pub(crate) mod fix_all_action;
mod fixes;
pub(crate) mod folding_range;
pub(crate) mod hover;
pub(crate) mod implementation;
pub(crate) mod initialize;
pub(crate) mod inlay_hint;
pub(crate) mod kernels;
pub(crate) mod linked_ranges;
mod pin_action;
pub(crate) mod references;
pub(crate) mod rename;
pub(crate) mod report;
pub(crate) mod report_page;
mod run_action;
pub(crate) mod selection_range;
pub(crate) mod semantic_tokens;
pub(crate) mod signature_help;
pub(crate) mod text_sync;
pub(crate) mod timeline;
pub(crate) mod type_definition;
pub(crate) mod verdict;
pub(crate) mod workspace_symbol;
