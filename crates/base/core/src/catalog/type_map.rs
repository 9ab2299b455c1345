//! One value of each type, made on first use: what a plan or a snapshot carries for others.

use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Default)]
pub(crate) struct TypeMap(Mutex<Vec<(TypeId, Arc<dyn Any + Send + Sync>)>>);

impl TypeMap {
    pub(crate) fn get<T: Send + Sync + 'static>(&self, create: impl FnOnce() -> T) -> Arc<T> {
        if let Some(made) = self.find::<T>() {
            return made;
        }
        // Made outside the lock: two threads may both make it, and the first one stays.
        let made = Arc::new(create());
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = values.iter().find(|(id, _)| *id == TypeId::of::<T>());
        if let Some(first) = kept.and_then(|(_, value)| Arc::clone(value).downcast::<T>().ok()) {
            return first;
        }
        values.push((TypeId::of::<T>(), Arc::clone(&made) as _));
        made
    }

    fn find<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, value) = values.iter().find(|(id, _)| *id == TypeId::of::<T>())?;
        Arc::clone(value).downcast::<T>().ok()
    }
}
