"""Addresses of the campaign pages and of the way in; mounted at /automation/."""

from django.urls import path

from campaigns.views import control, editing, enrolling, estimates, pages, walks

app_name = "campaigns"
urlpatterns = [
    path("campaigns/", pages.campaign_list, name="list"),
    path("campaigns/health", pages.health_banner, name="health"),
    path("campaigns/create", editing.create, name="create"),
    path("campaigns/<int:pk>", pages.detail, name="detail"),
    path("campaigns/<int:pk>/estimate", estimates.estimate_page, name="estimate"),
    path("campaigns/<int:pk>/live", pages.live, name="live"),
    path("campaigns/<int:pk>/targets", pages.people, name="people"),
    path("campaigns/<int:pk>/targets/change", walks.selection, name="people-change"),
    path("campaigns/<int:pk>/logs", pages.logs, name="logs"),
    path("executions/<int:pk>/pause", walks.pause, name="execution-pause"),
    path("executions/<int:pk>/resume", walks.resume, name="execution-resume"),
    path("executions/<int:pk>/remove", walks.remove, name="execution-remove"),
    path("executions/<int:pk>/restart", walks.restart, name="execution-restart"),
    path("executions/<int:pk>/retry", walks.retry_step, name="execution-retry"),
    path("campaigns/<int:pk>/edit", editing.edit, name="edit"),
    path("campaigns/<int:pk>/activate", control.activate, name="activate"),
    path("campaigns/<int:pk>/pause", control.pause, name="pause"),
    path("campaigns/<int:pk>/resume", control.resume, name="resume"),
    path("campaigns/<int:pk>/cancel", control.cancel, name="cancel"),
    path("campaigns/<int:pk>/end", control.end, name="end"),
    path("campaigns/<int:pk>/open", control.open_intake, name="open"),
    path("campaigns/<int:pk>/close", control.close_intake, name="close"),
    path("campaigns/<int:pk>/enrol", enrolling.choose, name="enrol"),
    path("campaigns/<int:pk>/enrol/count", enrolling.count, name="count"),
    path("campaigns/<int:pk>/enrollments/preview", enrolling.review, name="review"),
    path("targets/<int:subject_id>/executions", enrolling.executions, name="executions"),
    path("campaigns/enrollments/<int:pk>", enrolling.batch_page, name="batch"),
    path("campaigns/enrollments/<int:pk>/progress", enrolling.progress, name="progress"),
    path("campaigns/enrollments/<int:pk>/people/<int:subject_id>", enrolling.person, name="person"),
    path("enrollments/<int:pk>", enrolling.batch_json, name="batch-json"),
    path("enrollments/<int:pk>/decisions", enrolling.decide, name="decide"),
    path("enrollments/<int:pk>/commit", enrolling.commit, name="commit"),
    path("enrollments/<int:pk>/discard", enrolling.discard, name="discard"),
]
