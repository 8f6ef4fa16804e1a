"""Workspace isolation: a query without a workspace raises instead of returning everybody's rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from django.db import models

from core import clock

_workspace_id: ContextVar[int | None] = ContextVar("peyk_workspace", default=None)
M = TypeVar("M", bound=models.Model)

if TYPE_CHECKING:
    _DateTimeField = models.DateTimeField[Any, Any]
else:
    _DateTimeField = models.DateTimeField


class WorkspaceRequired(RuntimeError):
    """A workspace-scoped query ran outside `workspace_scope`."""


@contextmanager
def workspace_scope(workspace_id: int) -> Iterator[None]:
    """Limit every scoped query inside the block to one workspace."""
    token = _workspace_id.set(workspace_id)
    try:
        yield
    finally:
        _workspace_id.reset(token)


def current_workspace_id() -> int:
    """The workspace of the running request or task. Raises WorkspaceRequired when there is none."""
    workspace_id = _workspace_id.get()
    if workspace_id is None:
        raise WorkspaceRequired("no workspace is active; wrap the work in workspace_scope()")
    return workspace_id


class ScopedManager(models.Manager[M]):
    """Rows of the active workspace only; raises WorkspaceRequired when none is active."""

    def get_queryset(self) -> models.QuerySet[M]:
        return super().get_queryset().filter(workspace_id=current_workspace_id())


class UTCDateTimeField(_DateTimeField):
    """A moment: aware on the way in (a naive value is refused), UTC on the way out."""

    def get_prep_value(self, value: Any) -> Any:
        if value is not None and hasattr(value, "tzinfo") and value.tzinfo is None:
            raise ValueError(f"{self.name}: a naive date-time was given")
        return super().get_prep_value(value)

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        if self.auto_now or (self.auto_now_add and add):
            value = clock.now()
            setattr(model_instance, self.attname, value)
            return value
        return getattr(model_instance, self.attname)


class TimeStamped(models.Model):
    created_at = UTCDateTimeField(auto_now_add=True)
    updated_at = UTCDateTimeField(auto_now=True)

    class Meta:
        abstract = True


class WorkspaceModel(TimeStamped):
    """Base of every row that belongs to a workspace.

    `objects` is fail-closed. `unscoped` sees every workspace and is for the scheduler, the webhook's
    token look-up and commands only; an architecture test holds the list of modules that may name it.
    """

    workspace = models.ForeignKey("workspaces.Workspace", on_delete=models.PROTECT, related_name="+")

    objects: ClassVar[ScopedManager[Self]] = ScopedManager()
    unscoped: ClassVar[models.Manager[Self]] = models.Manager()

    class Meta:
        abstract = True


class HistoryIsAppendOnly(RuntimeError):
    """Somebody tried to change or delete a row of history."""


class AppendOnlyQuerySet(models.QuerySet[M]):
    def update(self, **_kwargs: Any) -> int:
        raise HistoryIsAppendOnly(f"{self.model.__name__} rows are never changed")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise HistoryIsAppendOnly(f"{self.model.__name__} rows are never deleted")

    def bulk_update(self, *_args: Any, **_kwargs: Any) -> int:
        raise HistoryIsAppendOnly(f"{self.model.__name__} rows are never changed")


class UndeletableQuerySet(models.QuerySet[M]):
    def delete(self) -> tuple[int, dict[str, int]]:
        raise HistoryIsAppendOnly(f"{self.model.__name__} rows are never deleted")


class ScopedAppendOnlyManager(ScopedManager[M]):
    _queryset_class = AppendOnlyQuerySet


class AppendOnlyManager(models.Manager[M]):
    _queryset_class = AppendOnlyQuerySet


class ScopedUndeletableManager(ScopedManager[M]):
    _queryset_class = UndeletableQuerySet


class UndeletableManager(models.Manager[M]):
    _queryset_class = UndeletableQuerySet


class AppendOnlyModel(WorkspaceModel):
    """A row of history: inserted once, never changed, never deleted."""

    objects: ClassVar[ScopedAppendOnlyManager[Self]] = ScopedAppendOnlyManager()
    unscoped: ClassVar[AppendOnlyManager[Self]] = AppendOnlyManager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise HistoryIsAppendOnly(f"{type(self).__name__} rows are never changed")
        super().save(*args, **kwargs)

    def delete(self, *_args: Any, **_kwargs: Any) -> tuple[int, dict[str, int]]:
        raise HistoryIsAppendOnly(f"{type(self).__name__} rows are never deleted")


class UndeletableModel(WorkspaceModel):
    """A row whose states change by named transitions but which is never deleted."""

    objects: ClassVar[ScopedUndeletableManager[Self]] = ScopedUndeletableManager()
    unscoped: ClassVar[UndeletableManager[Self]] = UndeletableManager()

    class Meta:
        abstract = True

    def delete(self, *_args: Any, **_kwargs: Any) -> tuple[int, dict[str, int]]:
        raise HistoryIsAppendOnly(f"{type(self).__name__} rows are never deleted")
