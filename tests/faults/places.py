"""The failpoints of the product by the process that meets them, and where each is killed."""

TICK = ("before_claim", "in_claim_tx", "after_claim", "before_dispatch", "after_dispatch")
WORKER = (
    "before_ack", "after_ack", "before_reserve", "after_lone_take", "in_walk", "after_budget",
    "mid_reserve_tx", "after_reserve", "before_socket", "after_http", "before_record", "mid_record_tx",
    "after_record",
)  # fmt: skip
CHUNKED = (
    "report_tx", "inbound_stored_tx", "inbound_tx", "import_piece_tx", "import_piece", "enrol_chunk_tx",
    "enrol_chunk", "event_told", "settle_chunk_tx", "settle_chunk", "newcomers_tx", "job_part",
)  # fmt: skip  # test_chunked_jobs.py
ELSEWHERE = ("followup_tx",)  # met by other steps than messages: test_followups.py
REAPER = ("reap_read", "reap_write")  # met after a first death
