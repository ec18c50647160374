//! TLX, of the facebookexperimental fork: storage that buffers share, demands on layouts.

use crate::declare::dialect;
use crate::effect::{OpEffect, ViewKind};

dialect! {
    /// Ops of TLX, `tlx`.
    Tlx = "tlx", fallback OpEffect::Unknown;

    /// Names storage that several buffers will share.
    StorageAliasSpec = "storage_alias_spec": "| result | storage = $storage ?{, size = $buffer_size_bytes} @ : !result |" { effect: OpEffect::StorageAliasSpec };
    /// Allocates a buffer inside shared storage.
    StorageAliasLocalAlloc = "storage_alias_local_alloc": "storage_alias | result | %storage_alias @ : !storage_alias -> !result |" { effect: OpEffect::StorageAliasAlloc };
    /// Says which buffers share storage and which have storage of their own.
    ReuseGroup = "reuse_group": "elements* | result | ( %elements ) group_kind = $group_kind ?{, group_size = $group_size} @ : ( !elements ) -> !result |" { effect: OpEffect::Nothing };
    /// Lays buffers out in shared storage as a reuse group says.
    SetBufferOverlap = "set_buffer_overlap": "storage_alias_spec overlap_def |  | ( %storage_alias_spec , %overlap_def ) : ( !storage_alias_spec , !overlap_def ) -> ( ) @ |" { effect: OpEffect::Nothing } get { operand overlap_def = "overlap_def" };
    /// Asks for a value in a given layout.
    RequireLayout = "require_layout": "src | result | %src @ : !src -> !result | shape elem" { effect: OpEffect::RequireLayout };
    /// Ends the demand for a layout.
    ReleaseLayout = "release_layout": "src | result | %src @ : !src -> !result | shape elem" { effect: OpEffect::Nothing };
    /// Demands that two values have one layout.
    AssertSameLayout = "assert_same_layout": "lhs rhs |  | %lhs , %rhs @ : !lhs , !rhs |" { effect: OpEffect::Nothing };
    /// Demands that a value has the layout that is expected.
    AssertSameLayoutExpected = "assert_same_layout_expected": "src |  | %src @ : !src |" { effect: OpEffect::Nothing };
    /// Prints the layout of a value while compiling.
    DumpLayout = "dump_layout": "src |  | %src @ : !src |" { effect: OpEffect::Nothing };
    /// The same memory under another type.
    LocalAlias = "local_alias": "src | result | %src @ : !src -> !result |" { effect: OpEffect::View(ViewKind::Reinterpret) };
}
