//! What an encoder does with single numbers and with rows, in forms that run many at once.

use fearless_simd::{Level, Simd, dispatch};

/// `e` to a power between -87 and 88, right to the last bit or two.
#[inline(always)]
fn exp(power: f32) -> f32 {
    // Added and taken away again it leaves a whole number, which stands in its lowest bits.
    const ROUND: f32 = 12_582_912.0;
    // The natural logarithm of two, in two parts that lose nothing.
    const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
    let power = power.clamp(-87.0, 88.0);
    let rounded = power * std::f32::consts::LOG2_E + ROUND;
    let twos = rounded - ROUND;
    let rest = power - twos * LN_2.0 - twos * LN_2.1;
    // The series of `e`, which after seven terms is as exact as the numbers are.
    let mut sum = 1.0 / 720.0;
    for term in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * rest + term;
    }
    sum * f32::from_bits(rounded.to_bits().wrapping_add(127) << 23)
}

/// The error function: Abramowitz and Stegun, 7.1.26, which is off by 1.5e-7 at most.
#[inline(always)]
#[expect(clippy::inline_always, reason = "else the processor's wide instructions are not used")]
fn erf(x: f32) -> f32 {
    let size = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let mut sum = 1.061_405_4;
    for term in [-1.453_152, 1.421_413_8, -0.284_496_72, 0.254_829_6] {
        sum = sum * t + term;
    }
    (1.0 - sum * t * exp(-size * size)).copysign(x)
}

/// The activation between the two halves of a layer, in its exact form.
pub(crate) fn gelu(level: Level, numbers: &mut [f32]) {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "else the processor's wide instructions are not used")]
    fn run<S: Simd>(simd: S, numbers: &mut [f32]) {
        simd.vectorize(
            #[inline(always)]
            || {
                for x in numbers {
                    *x *= 0.5 * (1.0 + erf(*x * std::f32::consts::FRAC_1_SQRT_2));
                }
            },
        );
    }
    dispatch!(level, simd => run(simd, numbers));
}

/// Each row of `width` numbers becomes shares of one, by its first `count`; the others become
/// nothing.
pub(crate) fn softmax(level: Level, numbers: &mut [f32], width: usize, count: usize) {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "else the processor's wide instructions are not used")]
    fn run<S: Simd>(simd: S, numbers: &mut [f32], width: usize, count: usize) {
        simd.vectorize(
            #[inline(always)]
            || {
                for row in numbers.chunks_exact_mut(width) {
                    let (row, rest) = row.split_at_mut_checked(count).unwrap_or_default();
                    rest.fill(0.0);
                    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    for number in row.iter_mut() {
                        *number = exp(*number - most);
                    }
                    let share = 1.0 / sum(row, |number| number);
                    for number in row.iter_mut() {
                        *number *= share;
                    }
                }
            },
        );
    }
    dispatch!(level, simd => run(simd, numbers, width, count));
}

/// The two rows of numbers of a layer's norm.
#[derive(Debug)]
pub(crate) struct LayerNorm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) epsilon: f32,
}

impl LayerNorm {
    /// Adds `more` to the rows, and brings each row to mean 0 and variance 1 before it is weighted.
    pub(crate) fn add(&self, level: Level, rows: &mut [f32], more: &[f32]) {
        dispatch!(level, simd => self.run(simd, rows, more));
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "else the processor's wide instructions are not used")]
    #[expect(clippy::cast_precision_loss, reason = "a width is a few thousand")]
    fn run<S: Simd>(&self, simd: S, rows: &mut [f32], more: &[f32]) {
        let width = self.weight.len().max(1);
        simd.vectorize(
            #[inline(always)]
            || {
                for (row, more) in rows.chunks_exact_mut(width).zip(more.chunks_exact(width)) {
                    row.iter_mut().zip(more).for_each(|(number, more)| *number += *more);
                    let mean = sum(row, |number| number) / width as f32;
                    let variance =
                        sum(row, |number| (number - mean) * (number - mean)) / width as f32;
                    let scale = 1.0 / (variance + self.epsilon).sqrt();
                    let weights = self.weight.iter().zip(&self.bias);
                    for (number, (weight, bias)) in row.iter_mut().zip(weights) {
                        *number = (*number - mean) * scale * weight + bias;
                    }
                }
            },
        );
    }
}

/// The sum over a row, in sixteen sums that run beside each other.
#[inline(always)]
#[expect(clippy::inline_always, reason = "else the processor's wide instructions are not used")]
fn sum(row: &[f32], each: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = row.as_chunks::<16>();
    let mut sums = [0.0; 16];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, number)| *sum += each(*number));
    }
    sums.iter().sum::<f32>() + rest.iter().map(|number| each(*number)).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::{erf, exp};

    #[test]
    fn powers_of_e_are_right_to_seven_digits() {
        for step in -8700_i16..=8800 {
            let power = f32::from(step) / 100.0;
            let right = f64::from(power).exp();
            let off = (f64::from(exp(power)) - right).abs() / right;
            assert!(off < 3e-7, "e^{power} is off by {off}");
        }
    }

    #[test]
    fn the_error_function_has_the_values_of_the_tables() {
        let known =
            [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (-2.0, -0.995_322_3), (9.0, 1.0)];
        for (x, right) in known {
            let off = (erf(x) - right).abs();
            assert!(off < 5e-7, "erf({x}) is off by {off}");
        }
    }
}
