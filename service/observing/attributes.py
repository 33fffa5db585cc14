"""The names of attributes: those of OpenTelemetry's semantic conventions, and ours, which begin with ``gainsay``.

They are constants of our own, because the conventions for models still move and their package marks names as deprecated
that backends read. A test compares those that its version has.
"""

from __future__ import annotations

from collections.abc import Mapping

# -- HTTP and errors
ERROR_TYPE = "error.type"
HTTP_METHOD = "http.request.method"
HTTP_ROUTE = "http.route"
HTTP_STATUS = "http.response.status_code"

# -- Models
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
CONVERSATION = "gen_ai.conversation.id"
AGENT = "gen_ai.agent.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
RESPONSE_ID = "gen_ai.response.id"
OUTPUT_TYPE = "gen_ai.output.type"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"

PROVIDERS: Mapping[str, str] = {"anthropic": "anthropic", "openai": "openai", "responses": "openai"}
"""The conventions' name of the vendor by the wire that is spoken with it; others keep the name of the policy."""

# -- Ours
DEBATE = "gainsay.debate"
TENANT = "gainsay.tenant"
REQUEST = "gainsay.request"
BATCH = "gainsay.batch"
WEBHOOK = "gainsay.webhook"
DELIVERY = "gainsay.delivery"
LEAVES = "gainsay.leaves"
SIZE = "gainsay.size"
LINES = "gainsay.lines"
LOG = "gainsay.log"
FORMAT = "gainsay.format"
TASK_TYPE = "gainsay.task_type"
SIMULATED = "gainsay.simulated"
STATUS = "gainsay.status"
STOP_REASON = "gainsay.stop_reason"
CONFIDENCE = "gainsay.confidence"
HUMAN_REVIEW = "gainsay.human_review"
FLAGS = "gainsay.flags"
COST = "gainsay.cost_usd"
CEILING = "gainsay.ceiling_usd"
HELD = "gainsay.held_usd"
CHARGED = "gainsay.charged_usd"
TURN = "gainsay.turn"
ROUND = "gainsay.round"
TAKE = "gainsay.take"
ATTEMPT = "gainsay.attempt"
SEAT = "gainsay.seat"
MODEL = "gainsay.model"
WORKER = "gainsay.worker"
RECORD = "gainsay.record"
RECORDS = "gainsay.records"
CHECK = "gainsay.check"
ENGINE = "gainsay.engine"
REASON = "gainsay.reason"
