// One request and its answer, and what every handler may use to make it.

import type {IncomingMessage, ServerResponse} from 'node:http';
import type {JsonObject} from '../../api/object.js';
import type {KindDefinition} from '../../api/kind.js';
import type {Identity} from '../../api/roles.js';
import type {Clock} from '../../system/time/clock.js';
import type {Access} from '../access.js';
import type {ArtifactStore} from '../artifact-store.js';
import type {ControlPlane} from '../control-plane.js';
import type {Inspection} from '../inspect/inspection.js';
import type {Scrapes} from '../metrics/scrapes.js';
import type {Seals} from '../seal.js';
import type {Params} from '../router.js';
import type {SlurmJobs} from '../slurm/slurm-jobs.js';
import type {Upgrade} from '../upgrades.js';
import type {FunctionCalls} from '../functions/calls.js';
import type {OpenDeliveries} from '../functions/deliveries.js';
import type {Streams} from './stream.js';

export type Exchange = {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	readonly method: string;
	/** Without the query. */
	readonly path: string;
	readonly query: URLSearchParams;
	readonly params: Params;
	readonly identity: Identity;
	/** Of a request that asks for another protocol. */
	readonly upgrade: Upgrade | undefined;
};

/** What is behind the door. */
export type Backend = {
	readonly control: ControlPlane;
	readonly inspection: Inspection;
	readonly clock: Clock;
	/** Of the program: `0.1.0`. */
	readonly version: string;
	/** What goes on: watches, logs, sessions. */
	readonly streams: Streams;
	/** Undefined where no agent joins and no tokens are made. */
	readonly access: Access | undefined;
	/** Undefined where functions are not called. */
	readonly calls: FunctionCalls | undefined;
	/** Undefined where nothing is delivered to functions. */
	readonly deliveries: OpenDeliveries | undefined;
	/** Undefined where Secrets are neither taken nor shown. */
	readonly seals: Seals | undefined;
	/** Undefined where no code of functions is kept. */
	readonly artifacts: ArtifactStore | undefined;
	/** Undefined where nothing is measured. */
	readonly scrapes: Scrapes | undefined;
	/** Undefined where nothing acts on SlurmJobs. */
	readonly slurm?: SlurmJobs | undefined;
};

export type Handler = (backend: Backend, exchange: Exchange) => void | Promise<void>;

/** The object or collection a request is about, for its rights, its cause and its errors. */
export type Target = {
	readonly kind: KindDefinition;
	readonly namespace: string | undefined;
	readonly name: string | undefined;
	readonly subresource: 'status' | 'scale' | 'log' | 'exec' | 'attach' | 'portforward' | 'retry' | 'eviction' | 'artifacts' | undefined;
};

/** What an error about this target says of it. */
export const aboutTarget = ({kind, name}: Target): JsonObject => ({
	group: kind.group,
	plural: kind.plural,
	kind: kind.kind,
	...(name === undefined ? {} : {name}),
});
