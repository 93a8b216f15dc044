// The shape of a node and of its parts, as `api/schemas` has them; columns share it with the kind.

import type {ApiObject} from '../object.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {nodeAddress, nodeCondition, spec, status, taint} from '../schemas/node.js';

export type NodeSpec = ShapeOf<typeof spec>;
export type NodeStatus = ShapeOf<typeof status>;
export type NodeObject = ApiObject<NodeSpec, NodeStatus>;

export type Taint = ShapeOf<typeof taint>;
export type NodeAddress = ShapeOf<typeof nodeAddress>;
export type NodeCondition = ShapeOf<typeof nodeCondition>;
