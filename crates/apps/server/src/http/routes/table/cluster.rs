//! The routes of what several servers share.

use super::super::problem::ProblemKind::{Forbidden, Unavailable};
use super::super::route::Route;
use super::super::route::RouteAccess::Operator;
use super::super::row::get;
use super::super::schemas;
use crate::http::rest::health::cluster;

pub(super) static ROUTES: &[Route] = &[get(
    "/v1/cluster",
    "show_cluster",
    cluster::show,
    "Tell which replicas share the record, and what is not as it should be among them.",
)
.access(Operator)
.answers(schemas::cluster::cluster)
.problems(&[Forbidden, Unavailable])];
