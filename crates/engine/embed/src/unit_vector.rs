//! Vectors of length 1.

/// The same direction with length 1. What has no direction stays nothing.
#[expect(clippy::cast_possible_truncation, reason = "the numbers are as exact as they came")]
pub(crate) fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let square: f64 = vector.iter().map(|number| f64::from(*number).powi(2)).sum();
    if square > 0.0 {
        let scale = square.sqrt().recip();
        for number in &mut vector {
            *number = (f64::from(*number) * scale) as f32;
        }
    }
    vector
}
