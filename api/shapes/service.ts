// The shape of a Service and of its parts, as `api/schemas` has them; rules and defaults share it with the kind.

import type {ApiObject} from '../object.js';
import type {ShapeOf} from '../schemas/parts.js';
import type {spec, status} from '../schemas/service.js';

export type ServiceSpec = ShapeOf<typeof spec>;
export type ServiceStatus = ShapeOf<typeof status>;
export type ServicePort = NonNullable<ServiceSpec['ports']>[number];
export type Service = ApiObject<ServiceSpec, ServiceStatus>;
