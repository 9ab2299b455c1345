"""The eight classes behind MCP: a server for each, in one process, by the SDK."""

import asyncio
import json
from contextlib import AsyncExitStack, asynccontextmanager

import mcp_types as types
from mcp.server.lowlevel import Server
from starlette.applications import Starlette

from tasks import CLASSES, new_instances, schema

# What changes nothing, the next random number included. The data do not say it; the run checks it.
READERS = {
    "GorillaFileSystem": "cat diff du find grep ls pwd sort tail wc",
    "MathAPI": "absolute_value add divide imperial_si_conversion logarithm max_value mean min_value"
    " multiply percentage power round_number si_unit_conversion square_root standard_deviation"
    " subtract sum_values",
    "MessageAPI": "get_message_stats get_user_id list_users message_get_login_status"
    " search_messages view_messages_sent",
    "TicketAPI": "get_ticket get_user_tickets ticket_get_login_status",
    "TradingBot": "filter_stocks_by_price get_account_info get_available_stocks get_current_time"
    " get_order_details get_order_history get_stock_info get_symbol_by_name"
    " get_transaction_history get_watchlist notify_price_change trading_get_login_status",
    "TravelAPI": "compute_exchange_rate get_all_credit_cards get_booking_history"
    " get_budget_fiscal_year get_credit_card_balance get_nearest_airport_by_city"
    " list_all_airports retrieve_invoice travel_get_login_status verify_traveler_information",
    "TwitterAPI": "get_tweet get_tweet_comments get_user_stats get_user_tweets list_all_following"
    " posting_get_login_status search_tweets",
    "VehicleControlAPI": "check_tire_pressure displayCarStatus display_log estimate_distance"
    " estimate_drive_feasibility_by_mileage find_nearest_tire_shop gallon_to_liter"
    " get_outside_temperature_from_weather_com get_zipcode_based_on_city liter_to_gallon",
}


def reads(owner, name):
    return name in READERS[owner].split()


def tool(owner, doc):
    hints = types.ToolAnnotations(
        read_only_hint=reads(owner, doc["name"]), destructive_hint=False, open_world_hint=False
    )
    return types.Tool(
        name=doc["name"],
        description=doc["description"],
        input_schema=schema(doc["parameters"]),
        annotations=hints,
    )


def text_of(result):
    """As the executor of the benchmark writes a result."""
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        try:
            return json.dumps(result)
        except (TypeError, ValueError):
            pass
    return str(result)


class World:
    """The instances of the task that is played; one task at a time."""

    def __init__(self, docs, delay):
        self.docs, self.delay = docs, delay
        self.instances, self.ran = {}, []

    def begin(self, task):
        self.instances, self.ran = new_instances(task), []

    async def call(self, owner, name, arguments):
        if self.delay:
            await asyncio.sleep(self.delay)
        # Written down before the call, because some classes keep and change what they are given.
        self.ran.append((name, json.dumps(arguments)))
        try:
            return text_of(getattr(self.instances[owner], name)(**arguments)), False
        except Exception as error:
            return f"Error during execution: {error}", True

    def server(self, owner):
        tools = [tool(owner, doc) for doc in self.docs[owner].values()]

        async def on_list(context, params):
            return types.ListToolsResult(tools=tools)

        async def on_call(context, params):
            text, failed = await self.call(owner, params.name, params.arguments or {})
            content = [types.TextContent(type="text", text=text)]
            return types.CallToolResult(content=content, is_error=failed)

        return Server(owner, version="1", on_list_tools=on_list, on_call_tool=on_call)

    def app(self, more_routes):
        servers = {owner: self.server(owner) for owner in CLASSES}
        routes = list(more_routes)
        for owner, server in servers.items():
            made = server.streamable_http_app(streamable_http_path=f"/{owner}", json_response=True)
            routes.extend(made.routes)

        @asynccontextmanager
        async def lifespan(app):
            async with AsyncExitStack() as stack:
                for server in servers.values():
                    await stack.enter_async_context(server.session_manager.run())
                yield

        return Starlette(routes=routes, lifespan=lifespan)
