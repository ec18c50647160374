//! Triton: tensors, pointers, functions.

use crate::declare::dialect;
use crate::effect::OpEffect;
use crate::facts::{PartitionHint, PythonName};

dialect! {
    /// Ops of Triton, `tt`.
    Tt = "tt", fallback OpEffect::Pure;

    /// Takes an integer as a pointer to global memory.
    IntToPtr = "int_to_ptr": "src | result | %src @ : !src -> !result | shape";
    /// Gives the address of a pointer as an integer.
    PtrToInt = "ptr_to_int": "src | result | %src @ : !src -> !result | shape";
    /// Reads the bits of a value as another type of the same width.
    Bitcast = "bitcast": "src | result | %src @ : !src -> !result | shape";
    /// Converts floats to another format, with a rounding of choice.
    FpToFp = "fp_to_fp": "src rbits? | result | %src ?{, rbits = %rbits : !rbits} ?{, rounding = $rounding} @ : !src -> !result | shape";
    /// Limits each element to a range, with a choice of what NaN becomes.
    Clampf = "clampf": "x=result min=result max=result | result | %x , %min , %max , propagateNan = $propagateNan @ : !result |";
    /// Square root, correctly rounded.
    PreciseSqrt = "precise_sqrt": "x | result=x | %x @ : !x |";
    /// Division of floats, correctly rounded.
    PreciseDivf = "precise_divf": "x y=x | result=x | %x , %y @ : !x |";
    /// Division of floats, approximate and fast.
    ApproxDivf = "approx_divf": "x y=x | result=x | %x , %y @ : !x |";
    /// Upper half of the product of unsigned integers.
    Mulhiui = "mulhiui": "x y=x | result=x | %x , %y @ : !x |";
    /// Moves pointers by offsets counted in elements.
    Addptr = "addptr": "ptr=result offset | result | %ptr , %offset @ : !result , !offset | shape";
    /// Loads from global memory through pointers, where a mask allows it.
    Load = "load": "ptr mask=i1(ptr)? other=pointee(ptr)? | result=pointee(ptr) | %ptr ?{, %mask} ?{, %other} *{cacheModifier = $cache | evictionPolicy = $evict} @ : !ptr | sized isVolatile?bool" { partition: Some(PartitionHint::Load) };
    /// Stores to global memory through pointers, where a mask allows it.
    Store = "store": "ptr value=pointee(ptr) mask=i1(ptr)? |  | %ptr , %value ?{, %mask} *{cacheModifier = $cache | evictionPolicy = $evict} @ : !ptr |" { partition: Some(PartitionHint::Store) };
    /// Combines values into global memory atomically and gives what was there before.
    AtomicRmw = "atomic_rmw": "ptr val mask=i1(val)? | result | $atomic_rmw_op , $sem , $scope , %ptr , %val ?{, %mask} @ : !fn | shape" { partition: Some(PartitionHint::Store) };
    /// Replaces values in global memory where they equal a given one, atomically.
    AtomicCas = "atomic_cas": "ptr cmp val mask=i1(val)? | result | $sem , $scope , %ptr , %cmp , %val ?{, %mask} @ : !fn | shape";
    /// Fills a tensor with one scalar.
    Splat = "splat": "src | result | %src @ : !src -> !result | elem";
    /// Takes the only element out of a tensor.
    Unsplat = "unsplat": "src | result=elem(src) | %src @ : !src |";
    /// Adds a dimension of size 1.
    ExpandDims = "expand_dims": "src | result | %src @ : !src -> !result | elem axis!i32";
    /// Gives the elements of a tensor another shape.
    Reshape = "reshape": "src | result | %src ?{allow_reorder $!allow_reorder} ?{efficient_layout $!efficient_layout} @ : !src -> !result | elem";
    /// Repeats a tensor along its dimensions of size 1.
    Broadcast = "broadcast": "src | result | %src @ : !src -> !result | elem";
    /// Puts two tensors behind each other.
    Cat = "cat": "lhs rhs=lhs | result | %lhs , %rhs @ : !lhs -> !result | elem";
    /// Puts two tensors side by side in a new last dimension.
    Join = "join": "lhs rhs=lhs | result | %lhs , %rhs @ : !lhs -> !result |";
    /// Takes a tensor apart along its last dimension of size 2.
    Split = "split": "src | outLHS outRHS=outLHS | %src @ : !src -> !outLHS |";
    /// Puts the dimensions of a tensor in another order.
    Trans = "trans": "src | result | %src @ : !src -> !result | elem";
    /// The number of this program along one axis of the grid.
    GetProgramId = "get_program_id": "| result:i32 | $axis @ : !result |";
    /// How many programs the grid has along one axis.
    GetNumPrograms = "get_num_programs": "| result:i32 | $axis @ : !result |";
    /// Multiplies two matrices and adds a third, in registers.
    Dot = "dot": "a b c=d | d | %a , %b , %c ?{, inputPrecision = $inputPrecision} @ : !a * !b -> !d | maxNumImpreciseAcc?i32" { partition: Some(PartitionHint::Mma) };
    /// Multiplies two matrices of small floats that share scales by block, and adds a third.
    DotScaled = "dot_scaled": "a b c=d a_scale? b_scale? | d | %a ?{scale %a_scale} , %b ?{scale %b_scale} , %c lhs = $a_elem_type rhs = $b_elem_type @ : !a ?{, !a_scale} * !b ?{, !b_scale} -> !d | sized fastMath!bool lhs_k_pack?bool rhs_k_pack?bool" { partition: Some(PartitionHint::Mma) };
    /// Combines the elements along an axis by its region.
    Reduce = "reduce": "srcs* | result* | - | axis!i32" { partition: Some(PartitionHint::Reduce) };
    /// Ends the region of a reduction with the combined elements.
    ReduceReturn = "reduce.return": "result* |  | %result @ : !result | term";
    /// Gives the running combination of elements along an axis.
    Scan = "scan": "srcs* | result* | - | shape axis!i32 reverse!bool" { partition: Some(PartitionHint::Reduce) };
    /// Ends the region of a scan with the combined elements.
    ScanReturn = "scan.return": "result* |  | %result @ : !result | term";
    /// Applies its region to the elements one by one.
    MapElementwise = "map_elementwise": "srcs* | result* | - | shape pack!i32";
    /// Ends the region of an elementwise map.
    MapElementwiseReturn = "map_elementwise.return": "result* |  | @ ?{%result : !result} | term";
    /// Applies a function of a device library to each element.
    ExternElementwise = "extern_elementwise": "srcs* | result | %srcs @ : !fn | pure!bool";
    /// The integers from a start to an end, as a tensor.
    MakeRange = "make_range": "| result | @ : !result | start!i32 end!i32";
    /// Applies inline PTX or GCN assembly to each element.
    ElementwiseInlineAsm = "elementwise_inline_asm": "args* | result* | $asm_string @ ?{%args : !args} -> !result | pure!bool packed_element!i32";
    /// Counts how often each small integer occurs.
    Histogram = "histogram": "src mask=i1(src)? | result | %src ?{, %mask} @ : !src -> !result |";
    /// Picks elements of a tensor along an axis by index.
    Gather = "gather": "src indices | result | %src [ %indices ] @ : !fn | axis!i32";
    /// Prints values from the device.
    Print = "print": "args* |  | $prefix @ ?{: %args : !args} | hex!bool";
    /// Stops the kernel with a message unless the condition holds.
    Assert = "assert": "condition |  | %condition , $message @ : !condition |";
    /// Describes a tensor in global memory by its base, shape and strides, for block transfers.
    MakeTensorDescriptor = "make_tensor_descriptor": "base shape:i32* strides:i64* descPtr? | result | %base , [ %shape ] , [ %strides ] ?{, descPtr = %descPtr : !descPtr} @ : !<base , !<result | sized";
    /// Calls another function of the module.
    Call = "call": "operands* | results* | $callee ( %operands ) @ : !fn |";
    /// A function of the kernel language; the public one without callers is the kernel.
    Func = "func": "|  | =func | isolated";
    /// Ends a function with its results.
    Return = "return": "srcs* |  | @ ?{%srcs : !srcs} | term" { python: PythonName::called("return") };
    /// Loads a block of a described tensor into registers.
    DescriptorLoad = "descriptor_load": "desc indices:i32* | result | %desc [ %indices ] *{cacheModifier = $cache | evictionPolicy = $evict} @ : !desc -> !result | multicast?bool" { partition: Some(PartitionHint::TmaLoad) };
    /// Stores registers to a block of a described tensor.
    DescriptorStore = "descriptor_store": "desc src indices:i32* |  | %desc [ %indices ] , %src *{reduce_kind = $reduce_kind} @ : !desc , !src |" { partition: Some(PartitionHint::BlockStore) };
    /// Combines registers into a block of a described tensor atomically.
    DescriptorReduce = "descriptor_reduce": "desc src indices:i32* |  | $kind , %desc [ %indices ] , %src @ : !desc , !src |" { partition: Some(PartitionHint::BlockStore) };
    /// Loads chosen rows of a described tensor into registers.
    DescriptorGather = "descriptor_gather": "desc x_offsets y_offset:i32 | result | %desc [ %x_offsets , %y_offset ] @ : !fn |" { partition: Some(PartitionHint::TmaLoad) };
    /// Stores registers to chosen rows of a described tensor.
    DescriptorScatter = "descriptor_scatter": "desc x_offsets y_offset:i32 src |  | %desc [ %x_offsets , %y_offset ] , %src @ : !operands |" { partition: Some(PartitionHint::BlockStore) };
    // Of one version only, or of an older one.
    /// Waits for the kernels that this launch depends on.
    GridDependencyWait = "grid_dependency_wait": "|  | @ |";
    /// Lets kernels that depend on this one start.
    GridDependencyLaunchDependents = "grid_dependency_launch_dependents": "|  | @ |";
    /// Loads from global memory atomically.
    AtomicLoad = "atomic_load": "ptr mask? | result | $sem , $scope , %ptr ?{, %mask} @ : !fn | shape";
    /// Reads global memory again and again until a condition holds.
    AtomicPoll = "atomic_poll": "ptr expected timeout:i64? | result | $sem , $scope , %ptr , %expected ?{timeout %timeout} @ : !ptr , !expected -> !result |";
    /// Stores to global memory atomically.
    AtomicStore = "atomic_store": "ptr val=pointee(ptr) mask=i1(ptr)? |  | $sem , $scope , %ptr , %val ?{, %mask} @ : !ptr |" { partition: Some(PartitionHint::Store) };
    /// Takes raw memory as a descriptor of a given block type.
    ReinterpretTensorDescriptor = "reinterpret_tensor_descriptor": "operands* | results* | ... |";
}
