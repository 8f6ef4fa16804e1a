"""What the gallery shows."""

from core.navigation import NavItem

STATUSES = [
    ("draft", "پیش‌نویس"),
    ("scheduled", "زمان‌بندی‌شده"),
    ("active", "فعال"),
    ("paused", "متوقف"),
    ("delivered", "تحویل‌شده"),
    ("failed", "ناموفق"),
    ("unknown", "نامعلوم"),
    ("primary", "نسخهٔ ۳"),
]
ROWS = [
    {"name": "مریم احمدی", "mobile": "09121234567", "status": "delivered", "label": "تحویل‌شده", "sent": 12},
    {"name": "Ali Karimi", "mobile": "09351112233", "status": "sending", "label": "در حال ارسال", "sent": 3},
    {
        "name": "شرکت پخش البرز (سهامی خاص)",
        "mobile": "02188776655",
        "status": "failed",
        "label": "ناموفق",
        "sent": 12345,
    },
    {"name": "نگار", "mobile": "09190000001", "status": "unknown", "label": "نامعلوم", "sent": 0},
]


def nav_items() -> list[NavItem]:
    labels = [
        ("home", "خانه", "", "home", "workspaces:home"),
        ("targets", "مخاطبان", "", "targets", "section-1"),
        ("campaigns", "کمپین‌ها", "automation", "campaign", "section-2"),
        ("workflows", "گردش‌کارها", "automation", "workflow", "section-3"),
        ("logs", "گزارش پیامک‌ها", "automation", "message", "section-4"),
        ("blacklist", "فهرست سیاه", "automation", "blacklist", "section-5"),
        ("sms", "تنظیمات پیامک", "settings", "sender", "section-6"),
        ("members", "همکاران", "settings", "users", "section-7"),
        ("audit", "رویدادنامه", "settings", "audit", "section-8"),
    ]
    return [
        NavItem(
            key=f"gallery-{key}", label=label, group=group, icon=icon, url_name=url, order=i, permission="all"
        )
        for i, (key, label, group, icon, url) in enumerate(labels)
    ]
