//! What builtins do, in a sentence or two, where no op's declaration says it.
//!
//! A name that several modules have stands once: by its last two parts where these tell it apart (`mbarrier.wait`,
//! `shared_memory_descriptor.load`), else by its last one.

/// Register functions that only Gluon has, although they stand among those of both languages.
pub const GLUON_ONLY: &[&str] = &[
    "gl.aggregate_replace",
    "gl.convert_layout",
    "gl.distributed_type",
    "gl.dot_fma",
    "gl.expect_zero",
    "gl.fp4_to_fp",
    "gl.full_like",
    "gl.inline_asm",
    "gl.set_auto_layout",
];

/// What is said of a full name as the table spells it; empty where nothing is.
pub fn of(path: &str) -> &'static str {
    let find = |key: &str| DOCS.binary_search_by(|(known, _)| (*known).cmp(key)).ok().and_then(|at| DOCS.get(at));
    let start = path.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
    let two = path.get(start..).unwrap_or(path);
    let one = path.rsplit('.').next().unwrap_or(path);
    let module = path.starts_with("gl.") || path.starts_with("tl.");
    let found = find(two).or_else(|| module.then(|| find(one)).flatten());
    found.map_or("", |(_, doc)| doc)
}

/// Sorted by name.
const DOCS: &[(&str, &str)] = &[
    ("AutoLayout", "A layout that the compiler chooses."),
    (
        "BlockedLayout",
        "A layout of registers: each thread holds a block of neighbouring elements, threads and warps tile the tensor, and `order` says which dimension runs fastest.",
    ),
    (
        "CoalescedLayout",
        "A layout of registers that the compiler chooses so that neighbouring threads touch neighbouring memory.",
    ),
    (
        "DistributedLinearLayout",
        "A layout of registers given by the basis vectors of registers, lanes, warps and blocks.",
    ),
    ("DotOperandLayout", "The layout of an operand of a dot product whose accumulator has the layout `parent`."),
    ("MBarrierLayout", "The layout of a shared memory allocation that holds mbarriers: one 64-bit word each."),
    ("MBarrierLayout.multicta", "The layout of mbarriers that CTAs of a cluster share."),
    ("NVMMADistributedLayout", "The layout of registers that an NVIDIA tensor core instruction takes or leaves."),
    ("NVMMASharedLayout", "The swizzled layout of shared memory that TMA, wgmma and tcgen05 read and write."),
    ("NVMMASharedLayout.get_default_for", "The widest swizzle that fits a block of this shape and element type."),
    (
        "PaddedSharedLayout",
        "A layout of shared memory with padding after every so many elements, against bank conflicts.",
    ),
    ("PaddedSharedLayout.with_identity_for", "A padded layout whose elements lie in the order of their coordinates."),
    ("PartitionedSharedLayout", "A layout that spreads a tensor over several partitions of LDS."),
    ("SharedLinearLayout", "A layout of shared memory given by the basis vectors of its offsets."),
    ("SliceLayout", "The layout of a tensor that one dimension was taken out of: `dim` of the layout `parent`."),
    (
        "SwizzledSharedLayout",
        "A layout of shared memory that permutes vectors of elements from row to row, against bank conflicts.",
    ),
    ("TensorMemoryLayout", "A layout of tensor memory: blocks of rows and columns of an accumulator."),
    ("TensorMemoryScalesLayout", "The layout of block scales in tensor memory."),
    ("abs", "Absolute value of each element."),
    ("advance", "The same block pointer moved by offsets."),
    (
        "allocate_mbarrier",
        "Allocates shared memory for one mbarrier, or for `batch` of them. They still have to be initialised.",
    ),
    (
        "allocate_shared_memory",
        "Allocates shared memory for a tensor of this element type, shape and layout, and stores `value` there if it is given.",
    ),
    (
        "allocate_tensor_memory",
        "Allocates tensor memory for a tensor of this element type, shape and layout, and stores `value` there if it is given.",
    ),
    ("arange", "The integers from `start` up to `end`, as a tensor of one dimension."),
    ("argmax", "The index of the largest element along an axis."),
    ("argmin", "The index of the smallest element along an axis."),
    ("associative_scan", "The running combination of elements along an axis by a function of one's own."),
    ("assume", "Promises the compiler that a condition holds."),
    (
        "async_copy.async_copy_global_to_shared",
        "Copies from pointers to shared memory asynchronously (`cp.async`). It is done when its commit group is waited for.",
    ),
    (
        "async_copy.async_load",
        "Copies from pointers to shared memory asynchronously (`cp.async`). It is done when its commit group is waited for.",
    ),
    ("async_copy.async_wait", "Waits until at most so many asynchronous copies of this wave are open."),
    (
        "async_copy.buffer_load_to_shared",
        "Copies from a buffer in global memory to LDS asynchronously; done when it is waited for.",
    ),
    (
        "async_copy.commit_group",
        "Closes a group of the asynchronous copies issued so far, to be waited for with `wait_group`.",
    ),
    ("async_copy.global_load_to_shared", "Copies from pointers to LDS asynchronously; done when it is waited for."),
    ("async_copy.global_to_shared", "Copies from pointers to LDS asynchronously; done when it is waited for."),
    (
        "async_copy.load_shared_relaxed",
        "Loads LDS into registers without a wait that the compiler adds: the program has waited for the copy itself.",
    ),
    ("async_copy.mbarrier_arrive", "Arrives on an mbarrier once the asynchronous copies issued so far have landed."),
    (
        "async_copy.shared_to_global",
        "Copies from LDS to pointers asynchronously; the LDS must stay as it is until it is waited for.",
    ),
    ("async_copy.wait_group", "Waits until at most `num_outstanding` commit groups of asynchronous copies are open."),
    (
        "async_store",
        "Stores registers to the shared memory of another CTA asynchronously and counts the bytes on an mbarrier there.",
    ),
    ("atomic_add", "Adds to global memory atomically; gives what was there before."),
    ("atomic_and", "Combines with global memory by bitwise and, atomically; gives what was there before."),
    ("atomic_cas", "Replaces what is in global memory where it equals `cmp`, atomically; gives what was there before."),
    ("atomic_load", "Loads from global memory atomically."),
    (
        "atomic_max",
        "Keeps the larger of a value and what is in global memory, atomically; gives what was there before.",
    ),
    (
        "atomic_min",
        "Keeps the smaller of a value and what is in global memory, atomically; gives what was there before.",
    ),
    ("atomic_or", "Combines with global memory by bitwise or, atomically; gives what was there before."),
    ("atomic_poll", "Reads global memory again and again until it has the expected value."),
    ("atomic_store", "Stores to global memory atomically."),
    ("atomic_xchg", "Exchanges a value with global memory atomically; gives what was there before."),
    ("atomic_xor", "Combines with global memory by bitwise exclusive or, atomically; gives what was there before."),
    ("barrier", "Waits until all threads of the partition have arrived here."),
    ("broadcast", "Repeats one tensor along its dimensions of size 1 so that it fits the other."),
    ("broadcast_to", "Repeats a tensor along its dimensions of size 1 up to a shape."),
    ("buffer_load", "Loads from a buffer in global memory at offsets, where a mask allows it."),
    ("buffer_store", "Stores to a buffer in global memory at offsets, where a mask allows it."),
    ("cast", "Converts to another element type, or reads the bits as it with `bitcast`."),
    ("cat", "Puts two tensors behind each other."),
    ("cdiv", "Quotient rounded up."),
    ("ceil", "Rounds each element up."),
    ("clamp", "Limits each element to a range."),
    ("clc.load_result", "Loads the answer of cluster launch control from shared memory."),
    (
        "clc.try_cancel",
        "Asks cluster launch control for another tile. The answer lands in shared memory and arrives on the mbarrier.",
    ),
    ("cluster.arrive", "Arrives at the barrier of the cluster without waiting."),
    ("cluster.barrier", "Arrives at the barrier of the cluster and waits for all other CTAs."),
    ("cluster.wait", "Waits until all CTAs have arrived at the barrier of the cluster."),
    ("constexpr", "A value that is known when the kernel is compiled."),
    (
        "convert_layout",
        "Moves a tensor to another layout of registers, through scratch memory where threads have to exchange.",
    ),
    ("cos", "Cosine of each element."),
    ("cumprod", "The running product along an axis."),
    ("cumsum", "The running sum along an axis."),
    ("debug_barrier", "Waits until all threads of the program have arrived here."),
    ("device_assert", "Stops the kernel with a message unless the condition holds, where asserts are on."),
    ("device_print", "Prints values from the device while the kernel runs."),
    ("div_rn", "Quotient of floats, correctly rounded."),
    ("dot", "Multiplies two matrices and adds a third."),
    ("dot_fma", "Multiplies two matrices and adds a third with scalar multiply-adds."),
    ("dot_scaled", "Multiplies two matrices of small floats that share scales by block, and adds a third."),
    ("erf", "Error function of each element."),
    ("exp", "Natural exponential of each element."),
    ("exp2", "Two to the power of each element."),
    ("expand_dims", "Adds a dimension of size 1."),
    ("fdiv", "Quotient of floats."),
    ("fence_async_shared", "Makes writes of threads to shared memory visible to the async proxy: TMA, wgmma, tcgen05."),
    ("flip", "Turns the elements along a dimension around."),
    ("floor", "Rounds each element down."),
    ("fma", "`x * y + z` with one rounding."),
    ("full", "A tensor filled with one value."),
    ("full_like", "A tensor filled with one value, in the shape of another."),
    ("gather", "Picks elements along an axis by index."),
    ("get_int_dtype", "The type of the integers of so many bits."),
    ("get_tmem_reg_layout", "The layout of registers in which a block of tensor memory is loaded and stored."),
    ("histogram", "Counts how often each small integer occurs."),
    ("inline_asm", "Inline assembly."),
    ("inline_asm_elementwise", "Applies inline assembly to each element."),
    ("interleave", "Puts the elements of two tensors in turn along the last dimension."),
    ("join", "Puts two tensors side by side in a new last dimension."),
    ("load", "Loads from global memory through pointers, where a mask allows it."),
    ("load_tensor_descriptor", "Loads a block of a described tensor into registers."),
    ("log", "Natural logarithm of each element."),
    ("log2", "Logarithm to base 2 of each element."),
    ("make_block_ptr", "A pointer to a block of a tensor in global memory."),
    (
        "make_tensor_descriptor",
        "Describes a tensor in global memory by its base, shape and strides, for transfers of blocks.",
    ),
    ("map_elementwise", "Applies a function to the elements one by one."),
    ("max", "The largest element along an axis."),
    ("max_constancy", "Tells the compiler how many neighbouring values are equal."),
    ("max_contiguous", "Tells the compiler how many neighbouring values are contiguous."),
    ("maximum", "The larger of two elements."),
    (
        "mbarrier.allocate_mbarrier",
        "Allocates shared memory for one mbarrier, or for `batch` of them. They still have to be initialised.",
    ),
    (
        "mbarrier.arrive",
        "Arrives on an mbarrier `count` times. The phase completes when all arrivals are in and all announced bytes have landed.",
    ),
    (
        "mbarrier.expect",
        "Arrives on an mbarrier once and announces bytes: the phase completes only when that many have landed.",
    ),
    (
        "mbarrier.fence_init_release_cluster",
        "Makes the initialisation of mbarriers visible to the other CTAs of the cluster.",
    ),
    ("mbarrier.init", "Initialises an mbarrier with the number of arrivals that complete a phase."),
    ("mbarrier.invalidate", "Ends the use of an mbarrier, so that its memory can be used for something else."),
    (
        "mbarrier.sync_cluster_init",
        "Makes the initialisation of mbarriers visible to the cluster and waits for all its CTAs.",
    ),
    (
        "mbarrier.wait",
        "Waits until the phase with this parity of an mbarrier has completed. A new mbarrier counts as having completed parity 1.",
    ),
    ("mfma", "Multiplies two matrices in registers with AMD's matrix cores and adds a third."),
    (
        "mfma_scaled",
        "Multiplies two matrices of small floats with block scales with AMD's matrix cores and adds a third.",
    ),
    ("min", "The smallest element along an axis."),
    ("minimum", "The smaller of two elements."),
    ("mma_v2", "Multiplies two matrices in registers with the tensor core (`mma`) and adds a third."),
    ("multiple_of", "Tells the compiler what values are multiples of."),
    ("num_ctas", "The number of CTAs of the cluster."),
    ("num_programs", "How many programs the grid has along an axis."),
    ("num_warps", "The number of warps that execute this partition."),
    ("permute", "Puts the dimensions of a tensor in another order."),
    ("program_id", "The number of this program along an axis of the grid."),
    ("rand", "Uniform random floats from a seed and offsets."),
    ("randint", "Random integers from a seed and offsets."),
    ("randn", "Normal random floats from a seed and offsets."),
    ("range", "Counts in a loop of the kernel, with hints for the compiler."),
    ("ravel", "The elements of a tensor in one dimension."),
    ("reduce", "Combines the elements along an axis by a function of one's own."),
    ("reduce_or", "Bitwise or of the elements along an axis."),
    ("reshape", "Gives the elements of a tensor another shape."),
    ("rsqrt", "One over the square root of each element."),
    ("sched_barrier", "Keeps the compiler from moving instructions across this place."),
    ("set_auto_layout", "Gives a tensor whose layout the compiler chooses a layout."),
    (
        "shared_memory_descriptor.atomic_scatter_add",
        "Adds elements atomically to places of the buffer that indices pick.",
    ),
    (
        "shared_memory_descriptor.atomic_scatter_and",
        "Combines elements by bitwise and, atomically, with places of the buffer that indices pick.",
    ),
    (
        "shared_memory_descriptor.atomic_scatter_max",
        "Keeps the larger, atomically, at places of the buffer that indices pick.",
    ),
    (
        "shared_memory_descriptor.atomic_scatter_min",
        "Keeps the smaller, atomically, at places of the buffer that indices pick.",
    ),
    (
        "shared_memory_descriptor.atomic_scatter_or",
        "Combines elements by bitwise or, atomically, with places of the buffer that indices pick.",
    ),
    (
        "shared_memory_descriptor.atomic_scatter_xchg",
        "Exchanges elements atomically with places of the buffer that indices pick.",
    ),
    (
        "shared_memory_descriptor.atomic_scatter_xor",
        "Combines elements by bitwise exclusive or, atomically, with places of the buffer that indices pick.",
    ),
    ("shared_memory_descriptor.gather", "Loads elements of the buffer that indices pick along an axis."),
    ("shared_memory_descriptor.index", "One slot of the buffer along its leading dimension."),
    ("shared_memory_descriptor.load", "Loads the buffer into registers of a layout."),
    ("shared_memory_descriptor.permute", "The same memory with its dimensions in another order."),
    ("shared_memory_descriptor.reinterpret", "The same memory as another element type, shape and layout."),
    ("shared_memory_descriptor.reshape", "The same memory with other dimensions."),
    ("shared_memory_descriptor.scatter", "Stores elements to places of the buffer that indices pick along an axis."),
    ("shared_memory_descriptor.slice", "A part of the buffer along a dimension, at a constant offset."),
    ("shared_memory_descriptor.store", "Stores registers to the buffer."),
    ("sigmoid", "`1 / (1 + exp(-x))` of each element."),
    ("sin", "Sine of each element."),
    ("softmax", "Softmax along a dimension."),
    ("sort", "Sorts the elements along a dimension."),
    ("split", "Takes a tensor apart along its last dimension of size 2."),
    ("sqrt", "Square root of each element."),
    ("sqrt_rn", "Square root of each element, correctly rounded."),
    ("static_assert", "Refuses to compile the kernel unless the condition holds."),
    ("static_print", "Prints values while the kernel is compiled."),
    ("static_range", "Counts in a loop that is unrolled while the kernel is compiled."),
    ("store", "Stores to global memory through pointers, where a mask allows it."),
    ("store_tensor_descriptor", "Stores registers to a block of a described tensor."),
    ("sum", "The sum of the elements along an axis."),
    ("swizzle2d", "Numbers the tiles of a matrix in groups of rows, so that neighbours share data in the cache."),
    ("tcgen05_commit", "Arrives on an mbarrier once the tcgen05 operations that this thread has issued are done."),
    ("tcgen05_copy", "Copies shared memory to tensor memory asynchronously; done when a commit after it arrives."),
    (
        "tcgen05_mma",
        "Multiplies matrices in shared or tensor memory into tensor memory asynchronously; done when a commit after it, or one of `mbarriers`, arrives.",
    ),
    ("tcgen05_mma_barrier_count", "How many arrivals the mbarriers of a multicast `tcgen05_mma` have to count."),
    ("tcgen05_mma_scaled", "Multiplies matrices of small floats with block scales into tensor memory asynchronously."),
    ("tdm.async_gather", "Loads rows of a described tensor to LDS asynchronously; done when it is waited for."),
    (
        "tdm.async_load",
        "Loads a block of a described tensor to LDS asynchronously; done when it is waited for, or arrives on an mbarrier.",
    ),
    (
        "tdm.async_load_fused",
        "Loads several blocks of described tensors to LDS by one instruction; done when it is waited for.",
    ),
    ("tdm.async_scatter", "Stores LDS to rows of a described tensor asynchronously."),
    (
        "tdm.async_store",
        "Stores LDS to a block of a described tensor asynchronously; the LDS must stay as it is until it is waited for.",
    ),
    ("tdm.async_wait", "Waits until at most so many transfers of the tensor data mover are open."),
    ("tdm.prefetch", "Brings a block of a described tensor into the cache."),
    ("tdm.update_tensor_descriptor", "The same descriptor with other offsets, bounds or destination."),
    (
        "tensor_memory_descriptor.get_reg_layout",
        "The layout of registers in which this tensor memory is loaded and stored.",
    ),
    ("tensor_memory_descriptor.index", "One slot of the tensor memory along its leading dimension."),
    ("tensor_memory_descriptor.load", "Loads the tensor memory into registers."),
    (
        "tensor_memory_descriptor.load_max",
        "Loads the tensor memory into registers, together with the largest element of each row.",
    ),
    (
        "tensor_memory_descriptor.load_min",
        "Loads the tensor memory into registers, together with the smallest element of each row.",
    ),
    ("tensor_memory_descriptor.reinterpret", "The same tensor memory as another element type, shape and layout."),
    ("tensor_memory_descriptor.slice", "Some columns of the tensor memory, at a constant offset."),
    ("tensor_memory_descriptor.store", "Stores registers to the tensor memory."),
    ("thread_barrier", "Waits until all threads of the partition have arrived here."),
    (
        "tma.async_atomic_add",
        "Adds shared memory to a block of a described tensor asynchronously; the memory must stay as it is until `store_wait`.",
    ),
    (
        "tma.async_atomic_and",
        "Combines shared memory by bitwise and with a block of a described tensor, asynchronously.",
    ),
    ("tma.async_atomic_max", "Keeps the larger of shared memory and a block of a described tensor, asynchronously."),
    ("tma.async_atomic_min", "Keeps the smaller of shared memory and a block of a described tensor, asynchronously."),
    ("tma.async_atomic_or", "Combines shared memory by bitwise or with a block of a described tensor, asynchronously."),
    (
        "tma.async_atomic_xor",
        "Combines shared memory by bitwise exclusive or with a block of a described tensor, asynchronously.",
    ),
    (
        "tma.async_copy_global_to_shared",
        "Loads a block of a described tensor to shared memory asynchronously; its bytes count on the mbarrier.",
    ),
    (
        "tma.async_copy_global_to_shared_im2col",
        "Loads a block of a described tensor in im2col form to shared memory asynchronously; its bytes count on the mbarrier.",
    ),
    (
        "tma.async_copy_shared_to_global",
        "Stores shared memory to a block of a described tensor asynchronously; the memory must stay as it is until `store_wait`.",
    ),
    (
        "tma.async_gather",
        "Loads rows of a described tensor to shared memory asynchronously; its bytes count on the mbarrier.",
    ),
    (
        "tma.async_load",
        "Loads a block of a described tensor to shared memory asynchronously; its bytes count on the mbarrier.",
    ),
    (
        "tma.async_load_im2col",
        "Loads a block of a described tensor in im2col form to shared memory asynchronously; its bytes count on the mbarrier.",
    ),
    (
        "tma.async_scatter",
        "Stores shared memory to rows of a described tensor asynchronously; the memory must stay as it is until `store_wait`.",
    ),
    (
        "tma.async_store",
        "Stores shared memory to a block of a described tensor asynchronously; the memory must stay as it is until `store_wait`.",
    ),
    (
        "tma.make_tensor_descriptor",
        "Describes a tensor in global memory by its base, shape and strides, for transfers by TMA.",
    ),
    ("tma.store_wait", "Waits until at most `pendings` TMA stores have yet to read their shared memory."),
    ("to_tensor", "A value as a tensor."),
    ("topk", "The largest `k` elements along a dimension."),
    ("trans", "Puts the dimensions of a tensor in another order."),
    ("umulhi", "Upper half of the product of unsigned integers."),
    ("view", "Gives the elements of a tensor another shape."),
    ("warp_pipeline_stage", "Marks a stage of a pipeline over warps; the compiler places barriers between stages."),
    ("warp_specialize", "Runs a default partition and worker partitions at the same time, each with warps of its own."),
    (
        "warpgroup_mma",
        "Multiplies matrices in shared memory with wgmma and adds to an accumulator; asynchronous with `is_async`.",
    ),
    ("warpgroup_mma_init", "Takes a tensor as the accumulator of asynchronous `warpgroup_mma`."),
    (
        "warpgroup_mma_wait",
        "Waits until at most `num_outstanding` asynchronous wgmma groups are open; gives the accumulators that may be read then.",
    ),
    ("where", "Elements of one of two tensors, by a condition."),
    ("wmma", "Multiplies two matrices in registers with AMD's wave matrix instructions and adds a third."),
    (
        "wmma_scaled",
        "Multiplies two matrices of small floats with block scales with AMD's wave matrix instructions and adds a third.",
    ),
    ("xor_sum", "Bitwise exclusive or of the elements along an axis."),
    ("zeros", "A tensor of zeros."),
    ("zeros_like", "A tensor of zeros, in the shape of another."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_each_entry_is_a_sentence() {
        assert!(DOCS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(DOCS.iter().all(|(_, doc)| doc.ends_with('.')));
    }
}
