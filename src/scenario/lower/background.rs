//! The background load, and how its requests are handled.

use super::super::diagnostic::Problems;
use super::super::model::Background;
use super::super::reader::{Fields, count, or_never, positive_span, rate_per_second};
use super::super::tree::Node;
use super::acquire::{acquire_without_past, acquisition};
use super::demand::claims;
use super::policy;
use crate::policy::{Acquire, Handling, Leave, Pipeline, Policy};
use crate::units::Span;

/// Requests under way at most, where the file says nothing.
const AT_ONCE: u32 = 65_536;

/// `[background]`: the load, and how it is handled where a policy says nothing.
pub(super) fn background(node: &Node, problems: &mut Problems) -> Option<(Background, Handling)> {
    let mut fields = Fields::of("[background]", node, problems)?;
    let rate = fields.required("rate", "rate = \"300/s\"", problems, rate_per_second);
    let claims = claims(&mut fields, node, problems);
    let at_once = fields.or("at_once", AT_ONCE, problems, count(1..=u32::MAX / 2));
    let handling = handled(&mut fields, problems);
    fields.finish(problems);
    let background = Background { rate: rate?, claims: claims?, at_once: at_once? };
    Some((background, handling?))
}

/// The `background` of a policy: how its requests are handled.
pub(super) fn handling(node: &Node, problems: &mut Problems) -> Option<Handling> {
    let mut fields = Fields::of("`background`", node, problems)?;
    let handling = handled(&mut fields, problems);
    fields.finish(problems);
    handling
}

fn handled(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Handling> {
    let default = Policy::polling(Pipeline::constant(Span::ZERO));
    let server = fields.or("server", default, problems, server);
    let retry_after = fields.optional("retry_after", problems, positive_span);
    let client = fields.or("client", Acquire::Once, problems, acquire_without_past);
    Some(Handling { server: server?, retry_after: retry_after?, client: client? })
}

/// How a server acquires a backend: the keys of a policy that say so.
fn server(node: &Node, problems: &mut Problems) -> Option<Policy> {
    let mut fields = Fields::of("`server`", node, problems)?;
    let connect_timeout = fields.optional("connect_timeout", problems, positive_span);
    let patience = fields.or("patience", None, problems, or_never(positive_span));
    let leave = fields.or("leave", Leave::Close, problems, policy::leave);
    let acquire = acquisition(&mut fields, problems);
    fields.finish(problems);
    Some(Policy {
        connect_timeout: connect_timeout?,
        patience: patience?,
        leave: leave?,
        acquire: acquire?,
        ..Policy::polling(Pipeline::constant(Span::ZERO))
    })
}
