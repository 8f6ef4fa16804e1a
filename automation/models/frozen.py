"""Published versions never change: friendly errors here, and triggers in the database behind them."""

from __future__ import annotations

from typing import Any, ClassVar, Self, TypeVar

from django.db import models

from core.tenancy import ScopedManager, WorkspaceModel

M = TypeVar("M", bound=models.Model)
DRAFT = "draft"
FROZEN_COLUMNS = frozenset(
    {"workspace_id", "workflow_id", "version_number", "settings", "note", "published_at"}
)


class PublishedVersionIsFrozen(RuntimeError):
    """Somebody tried to change, extend or delete what was published."""


class VersionQuerySet(models.QuerySet[M]):
    """Versions: a draft may change and go; a published one only makes way for the next."""

    def update(self, **kwargs: Any) -> int:
        columns = {self.model._meta.get_field(name).attname for name in kwargs if name != "pk"}  # type: ignore[union-attr]
        if columns & FROZEN_COLUMNS or kwargs.get("status") == DRAFT:
            _refuse(self.exclude(status=DRAFT), self.model)
        return super().update(**kwargs)

    def delete(self) -> tuple[int, dict[str, int]]:
        _refuse(self.exclude(status=DRAFT), self.model)
        return super().delete()


class PartQuerySet(models.QuerySet[M]):
    """Steps and connections: they come, change and go with a draft only."""

    def update(self, **kwargs: Any) -> int:
        _refuse(self.exclude(version__status=DRAFT), self.model)
        return super().update(**kwargs)

    def delete(self) -> tuple[int, dict[str, int]]:
        _refuse(self.exclude(version__status=DRAFT), self.model)
        return super().delete()


def _refuse(frozen: models.QuerySet[Any], model: type[models.Model]) -> None:
    if frozen.exists():
        raise PublishedVersionIsFrozen(f"{model.__name__}: what was published never changes")


class ScopedVersionManager(ScopedManager[M]):
    _queryset_class = VersionQuerySet


class VersionManager(models.Manager[M]):
    _queryset_class = VersionQuerySet


class ScopedPartManager(ScopedManager[M]):
    _queryset_class = PartQuerySet


class PartManager(models.Manager[M]):
    _queryset_class = PartQuerySet


class PartOfVersion(WorkspaceModel):
    """A row that belongs to a version and is frozen with it."""

    objects: ClassVar[ScopedPartManager[Self]] = ScopedPartManager()
    unscoped: ClassVar[PartManager[Self]] = PartManager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._refuse_frozen()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        self._refuse_frozen()
        return super().delete(*args, **kwargs)

    def _refuse_frozen(self) -> None:
        version: Any = getattr(self, "version")  # noqa: B009  # every subclass has one
        if version.status != DRAFT:
            raise PublishedVersionIsFrozen(f"{type(self).__name__}: what was published never changes")
