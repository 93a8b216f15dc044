// The static shape of a discovery.k8s.io/v1 EndpointSlice: its members stand beside its metadata.

import type {ApiObject} from '../object.js';
import type {Protocol} from './pod.js';

export type ObjectReference = {
	readonly apiVersion?: string;
	readonly kind?: string;
	readonly name?: string;
	readonly namespace?: string;
	readonly uid?: string;
	readonly resourceVersion?: string;
	readonly fieldPath?: string;
};

export type Endpoint = {
	readonly addresses: readonly string[];
	readonly conditions?: {readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean};
	readonly hostname?: string;
	readonly nodeName?: string;
	readonly zone?: string;
	readonly targetRef?: ObjectReference;
};

export type EndpointPort = {
	readonly name?: string;
	readonly port?: number;
	readonly protocol?: Protocol;
	readonly appProtocol?: string;
};

export type EndpointSliceContent = {
	readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
	readonly endpoints: readonly Endpoint[];
	readonly ports?: readonly EndpointPort[];
};

export type EndpointSlice = ApiObject & EndpointSliceContent;
