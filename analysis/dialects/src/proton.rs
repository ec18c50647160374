//! Proton and ProtonGPU: profiling.

use crate::declare::dialect;
use crate::effect::OpEffect;

dialect! {
    /// Ops of Proton, `proton`.
    Proton = "proton", fallback OpEffect::Pure;

    /// Profiler: marks the start or the end of a named scope.
    Record = "record": "|  | ?{start $!isStart}:{end} $name @ |";
    /// Profiler: an event with a type of its own.
    Event = "event": "operands* | results* | ... |";
    /// Profiler: makes an event.
    AllocateEvent = "allocate_event": "operands* | results* | ... |";
}

dialect! {
    /// Ops of ProtonGPU, `proton_gpu`.
    ProtonGpu = "proton_gpu", fallback OpEffect::Pure;

    /// Profiler: writes one event to its ring of events.
    CircularStore = "circular_store": "segment counter |  | ?{start $!isStart}:{end} %segment , %counter @ : !segment , !counter | scopeId!i32";
    /// Profiler: reads a clock.
    ReadCounter = "read_counter": "| counter | @ : !counter |";
    /// Profiler: sets up its scratch memory.
    Initialize = "initialize": "scratchPtr |  | %scratchPtr @ : !scratchPtr |";
    /// Profiler: writes the events out.
    Finalize = "finalize": "segment scratchPtr |  | %segment , %scratchPtr @ : !segment , !scratchPtr |";
    /// Profiler: the part of its buffer that one warp writes.
    SegmentAlloc = "segment_alloc": "buffer | segment | %buffer @ : !buffer -> !<segment |";
    /// Profiler: sets up what warps keep between scopes.
    InitCtx = "init_ctx": "scratchPtr |  | %scratchPtr @ : !scratchPtr |";
    /// Profiler: reads what warps keep between scopes.
    RestoreCtx = "restore_ctx": "segment scratchPtr |  | %segment , %scratchPtr @ : !segment , !scratchPtr |";
    /// Profiler: writes what warps keep between scopes.
    SaveCtx = "save_ctx": "segment scratchPtr |  | %segment , %scratchPtr @ : !segment , !scratchPtr |";
}
