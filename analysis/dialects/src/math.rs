//! math, of MLIR.

use crate::declare::dialect;
use crate::effect::OpEffect;
use crate::facts::PartitionHint;

dialect! {
    /// Ops of MLIR's `math`.
    Math = "math", fallback OpEffect::Pure;

    /// Absolute value of a float.
    Absf = "absf": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Arc cosine of a float.
    Acos = "acos": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Inverse hyperbolic cosine.
    Acosh = "acosh": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Arc sine of a float.
    Asin = "asin": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Inverse hyperbolic sine.
    Asinh = "asinh": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Arc tangent of a float.
    Atan = "atan": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Inverse hyperbolic tangent.
    Atanh = "atanh": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Cube root of a float.
    Cbrt = "cbrt": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Rounds a float up.
    Ceil = "ceil": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Cosine of a float.
    Cos = "cos": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Hyperbolic cosine of a float.
    Cosh = "cosh": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Error function of a float.
    Erf = "erf": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Complementary error function.
    Erfc = "erfc": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Exponential to the base 2.
    Exp2 = "exp2": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |" { partition: Some(PartitionHint::Exp) };
    /// Exponential to the base e.
    Exp = "exp": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |" { partition: Some(PartitionHint::Exp) };
    /// Exponential minus 1, exact near 0.
    Expm1 = "expm1": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Rounds a float down.
    Floor = "floor": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Natural logarithm of a float.
    Log = "log": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Logarithm to the base 10.
    Log10 = "log10": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Logarithm of 1 plus the operand, exact near 0.
    Log1p = "log1p": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Logarithm to the base 2.
    Log2 = "log2": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Rounds a float to the nearest integer, halves away from zero.
    Round = "round": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Rounds a float to the nearest integer, halves to even.
    Roundeven = "roundeven": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// One over the square root.
    Rsqrt = "rsqrt": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Sine of a float.
    Sin = "sin": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Hyperbolic sine of a float.
    Sinh = "sinh": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Square root of a float.
    Sqrt = "sqrt": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Tangent of a float.
    Tan = "tan": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Hyperbolic tangent of a float.
    Tanh = "tanh": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Rounds a float towards zero.
    Trunc = "trunc": "operand=result | result | %operand ?{fastmath $fastmath} @ : !result |";
    /// Absolute value of an integer.
    Absi = "absi": "operand=result | result | %operand @ : !result |";
    /// Number of leading zero bits.
    Ctlz = "ctlz": "operand=result | result | %operand @ : !result |";
    /// Number of bits that are set.
    Ctpop = "ctpop": "operand=result | result | %operand @ : !result |";
    /// Number of trailing zero bits.
    Cttz = "cttz": "operand=result | result | %operand @ : !result |";
    /// Whether a float is finite.
    Isfinite = "isfinite": "operand | result=i1(operand) | %operand ?{fastmath $fastmath} @ : !operand |";
    /// Whether a float is infinite.
    Isinf = "isinf": "operand | result=i1(operand) | %operand ?{fastmath $fastmath} @ : !operand |";
    /// Whether a float is NaN.
    Isnan = "isnan": "operand | result=i1(operand) | %operand ?{fastmath $fastmath} @ : !operand |";
    /// Whether a float is normal.
    Isnormal = "isnormal": "operand | result=i1(operand) | %operand ?{fastmath $fastmath} @ : !operand |";
    /// Angle of a point, from its two coordinates.
    Atan2 = "atan2": "lhs=result rhs=result | result | %lhs , %rhs ?{fastmath $fastmath} @ : !result |";
    /// Magnitude of one float with the sign of another.
    Copysign = "copysign": "lhs=result rhs=result | result | %lhs , %rhs ?{fastmath $fastmath} @ : !result |";
    /// Float to the power of a float.
    Powf = "powf": "lhs=result rhs=result | result | %lhs , %rhs ?{fastmath $fastmath} @ : !result |";
    /// Integer to the power of an integer.
    Ipowi = "ipowi": "lhs=result rhs=result | result | %lhs , %rhs @ : !result |";
    /// Float to the power of an integer.
    Fpowi = "fpowi": "lhs rhs | result=lhs | %lhs , %rhs ?{fastmath $fastmath} @ : !lhs , !rhs |";
    /// Product plus a third operand, rounded once.
    Fma = "fma": "a=result b=result c=result | result | %a , %b , %c ?{fastmath $fastmath} @ : !result |";
    /// Limits a float to a range.
    Clampf = "clampf": "value=result min=result max=result | result | %value to [ %min , %max ] ?{fastmath $fastmath} @ : !result |";
    /// Sine and cosine at once.
    Sincos = "sincos": "operand | sin=operand cos=operand | %operand ?{fastmath $fastmath} @ : !operand |";
}
