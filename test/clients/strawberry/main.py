"""Prints the schema of a subgraph that has orders with a stored judgement, as a router asks for it."""

import strawberry
from strawberry.federation.schema_directives import Key


@strawberry.federation.type(keys=[Key(fields="sealed", resolvable=False)], tags=["risk"])
class DeviceJudgement:
    sealed: strawberry.ID


@strawberry.federation.type(keys=["id"])
class Order:
    id: strawberry.ID
    judgement: DeviceJudgement | None = strawberry.federation.field(tags=["risk"])


@strawberry.federation.type(keys=["id"])
class FingerprintDevice:
    id: strawberry.ID
    orders: list[Order]


@strawberry.type
class Query:
    @strawberry.field
    def order(self, id: strawberry.ID) -> Order | None:
        return Order(id=id, judgement=DeviceJudgement(sealed=strawberry.ID("sealed")))


# Its own default is 2.11, which not every composer accepts. No query returns a FingerprintDevice.
schema = strawberry.federation.Schema(query=Query, types=[FingerprintDevice], federation_version="2.9")
print(schema.execute_sync("{ _service { sdl } }").data["_service"]["sdl"])
