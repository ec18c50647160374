//! arith, of MLIR.

use crate::declare::dialect;
use crate::effect::OpEffect;

dialect! {
    /// Ops of MLIR's `arith`.
    Arith = "arith", fallback OpEffect::Pure;

    /// A constant scalar or tensor.
    Constant = "constant": "| result | =constant |";
    /// Sum of integers.
    Addi = "addi": "lhs=result rhs=result | result | %lhs , %rhs ?{overflow $overflowFlags} @ : !result |";
    /// Difference of integers.
    Subi = "subi": "lhs=result rhs=result | result | %lhs , %rhs ?{overflow $overflowFlags} @ : !result |";
    /// Product of integers.
    Muli = "muli": "lhs=result rhs=result | result | %lhs , %rhs ?{overflow $overflowFlags} @ : !result |";
    /// Shift of integers to the left.
    Shli = "shli": "lhs=result rhs=result | result | %lhs , %rhs ?{overflow $overflowFlags} @ : !result |";
    /// Quotient of signed integers, rounded to zero.
    Divsi = "divsi": "lhs=result rhs=result | result | %lhs , %rhs ?{exact $!isExact} @ : !result |";
    /// Quotient of unsigned integers.
    Divui = "divui": "lhs=result rhs=result | result | %lhs , %rhs ?{exact $!isExact} @ : !result |";
    /// Shift to the right that keeps the sign.
    Shrsi = "shrsi": "lhs=result rhs=result | result | %lhs , %rhs ?{exact $!isExact} @ : !result |";
    /// Shift to the right that fills with zeros.
    Shrui = "shrui": "lhs=result rhs=result | result | %lhs , %rhs ?{exact $!isExact} @ : !result |";
    /// Quotient of signed integers, rounded up.
    Ceildivsi = "ceildivsi": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Quotient of unsigned integers, rounded up.
    Ceildivui = "ceildivui": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Quotient of signed integers, rounded down.
    Floordivsi = "floordivsi": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Remainder of signed integers.
    Remsi = "remsi": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Remainder of unsigned integers.
    Remui = "remui": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Bitwise and of integers.
    Andi = "andi": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Bitwise or of integers.
    Ori = "ori": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Bitwise exclusive or.
    Xori = "xori": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Larger of signed integers.
    Maxsi = "maxsi": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Larger of unsigned integers.
    Maxui = "maxui": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Smaller of signed integers.
    Minsi = "minsi": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Smaller of unsigned integers.
    Minui = "minui": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Sum of unsigned integers with its carry.
    AdduiExtended = "addui_extended": "lhs=sum rhs=sum | sum overflow | %lhs , %rhs @ : !sum , !overflow |";
    /// Both halves of the product of signed integers.
    MulsiExtended = "mulsi_extended": "lhs rhs=lhs | low=lhs high=lhs | %lhs , %rhs @ : !lhs |";
    /// Both halves of the product of unsigned integers.
    MuluiExtended = "mului_extended": "lhs rhs=lhs | low=lhs high=lhs | %lhs , %rhs @ : !lhs |";
    /// Sum of floats.
    Addf = "addf": "lhs=result rhs=result | result | %lhs , %rhs ?{$roundingmode} ?{fastmath $fastmath} @ : !result |";
    /// Difference of floats.
    Subf = "subf": "lhs=result rhs=result | result | %lhs , %rhs ?{$roundingmode} ?{fastmath $fastmath} @ : !result |";
    /// Product of floats.
    Mulf = "mulf": "lhs=result rhs=result | result | %lhs , %rhs ?{$roundingmode} ?{fastmath $fastmath} @ : !result |";
    /// Quotient of floats.
    Divf = "divf": "lhs=result rhs=result | result | %lhs , %rhs ?{$roundingmode} ?{fastmath $fastmath} @ : !result |";
    /// Remainder of floats.
    Remf = "remf": "lhs=result rhs=result | result | %lhs , %rhs ?{$roundingmode} ?{fastmath $fastmath} @ : !result |";
    /// Larger of floats; NaN where one is NaN.
    Maximumf = "maximumf": "lhs=result rhs=result | result | %lhs , %rhs ?{$roundingmode} ?{fastmath $fastmath} @ : !result |";
    /// Smaller of floats; NaN where one is NaN.
    Minimumf = "minimumf": "lhs=result rhs=result | result | %lhs , %rhs ?{$roundingmode} ?{fastmath $fastmath} @ : !result |";
    /// Larger of floats; the other where one is NaN.
    Maxnumf = "maxnumf": "lhs=result rhs=result | result | %lhs , %rhs ?{$roundingmode} ?{fastmath $fastmath} @ : !result |";
    /// Smaller of floats; the other where one is NaN.
    Minnumf = "minnumf": "lhs=result rhs=result | result | %lhs , %rhs ?{$roundingmode} ?{fastmath $fastmath} @ : !result |";
    /// Replaces denormal floats by zero.
    FlushDenormals = "flush_denormals": "operand=result | result | %operand @ : !result |";
    /// Negates a float.
    Negf = "negf": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Compares integers by a predicate.
    Cmpi = "cmpi": "lhs rhs=lhs | result=i1(lhs) | $predicate , %lhs , %rhs @ : !lhs |";
    /// Compares floats by a predicate.
    Cmpf = "cmpf": "lhs rhs=lhs | result=i1(lhs) | $predicate , %lhs , %rhs ?{fastmath $fastmath} @ : !lhs |";
    /// One of two values, by a condition.
    Select = "select": "condition true_value=result false_value=result | result | =select |";
    /// Widens signed integers.
    Extsi = "extsi": "in | out | %in @ : !in to !out | shape";
    /// Converts between integers and `index`, signed.
    IndexCast = "index_cast": "in | out | %in @ : !in to !out | shape";
    /// Reads the bits of a value as another type of the same width.
    Bitcast = "bitcast": "in | out | %in @ : !in to !out | shape";
    /// Converts floats to signed integers.
    Fptosi = "fptosi": "in | out | %in @ : !in to !out | shape";
    /// Converts floats to unsigned integers.
    Fptoui = "fptoui": "in | out | %in @ : !in to !out | shape";
    /// Widens unsigned integers.
    Extui = "extui": "in | out | %in ?{nneg $!nonNeg} @ : !in to !out | shape";
    /// Converts unsigned integers to floats.
    Uitofp = "uitofp": "in | out | %in ?{nneg $!nonNeg} @ : !in to !out | shape";
    /// Converts between integers and `index`, unsigned.
    IndexCastui = "index_castui": "in | out | %in ?{nneg $!nonNeg} @ : !in to !out | shape";
    /// Converts signed integers to floats.
    Sitofp = "sitofp": "in | out | %in ?{$roundingmode} @ : !in to !out | shape";
    /// Narrows integers to fewer bits.
    Trunci = "trunci": "in | out | %in ?{overflow $overflowFlags} @ : !in to !out | shape";
    /// Widens floats to a larger format.
    Extf = "extf": "in | out | %in ?{fastmath $fastmath} @ : !in to !out | shape";
    /// Converts floats to another format of the same width.
    Convertf = "convertf": "in | out | %in ?{$roundingmode} ?{fastmath $fastmath} @ : !in to !out | shape";
    /// Narrows floats to a smaller format.
    Truncf = "truncf": "in | out | %in ?{$roundingmode} ?{fastmath $fastmath} @ : !in to !out | shape";
    /// Widens small floats and applies their scales.
    ScalingExtf = "scaling_extf": "in scale | out | %in , %scale ?{fastmath $fastmath} @ : !in , !scale to !out |";
    /// Applies scales and narrows floats.
    ScalingTruncf = "scaling_truncf": "in scale | out | %in , %scale ?{$roundingmode} ?{fastmath $fastmath} @ : !in , !scale to !out |";
}
