//! The routes: the table, the request and the reply of each, and the OpenAPI document made of them.
mod metadata;
pub(crate) mod openapi;
mod parameter;
pub(crate) mod problem;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod route;
pub(crate) mod router;
mod row;
mod schemas;
mod table;
