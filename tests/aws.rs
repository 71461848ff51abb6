//! The table of the AWS Architecture Blog, by the program in `examples/`.

#[allow(dead_code)]
#[path = "../examples/aws_architecture_blog.rs"]
mod aws_architecture_blog;

use aws_architecture_blog::{RUNS, means, reference};

/// Calls and time of five algorithms and twenty sizes, within 4.2 standard errors of both programs' runs.
#[test]
#[allow(clippy::disallowed_macros, reason = "it says how close it came")]
fn the_blogs_program_and_ours_agree() {
    let (mut figures, mut worst) = (0, 0.0f64);
    for row in reference() {
        let ours = means(&row.algorithm, row.clients);
        for ((mean, sd), (blog, blog_sd)) in ours.into_iter().zip(row.figures) {
            let error = ((sd * sd + blog_sd * blog_sd) / f64::from(RUNS)).sqrt();
            // A write with no contention takes a known number of calls.
            let z = if mean == blog { 0.0 } else { (mean - blog).abs() / error };
            assert!(
                z <= 4.2,
                "{} of {}: {mean}, not {blog} (z {z:.1})",
                row.algorithm,
                row.clients
            );
            figures += 1;
            worst = worst.max(z);
        }
    }
    println!("{figures} figures, worst z {worst:.2}");
    assert_eq!(figures, 200);
}
