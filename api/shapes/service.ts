// The static shape of a v1 Service.

import type {ApiObject, Condition, Labels} from '../object.js';
import type {Protocol} from './pod.js';

export type ServicePort = {
	/** Required where there are several. */
	readonly name?: string;
	readonly protocol?: Protocol;
	readonly port: number;
	/** A number, or the name of a container's port. */
	readonly targetPort?: number | string;
	readonly nodePort?: number;
	readonly appProtocol?: string;
};

export type ServiceSpec = {
	readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
	readonly selector?: Labels;
	readonly ports?: readonly ServicePort[];
	/** An address, or `None`. */
	readonly clusterIP?: string;
	readonly clusterIPs?: readonly string[];
	readonly ipFamilies?: readonly ('IPv4' | 'IPv6')[];
	readonly ipFamilyPolicy?: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack';
	readonly sessionAffinity?: 'None' | 'ClientIP';
	readonly sessionAffinityConfig?: {readonly clientIP?: {readonly timeoutSeconds?: number}};
	readonly internalTrafficPolicy?: 'Cluster' | 'Local';
	readonly externalTrafficPolicy?: 'Cluster' | 'Local';
	readonly publishNotReadyAddresses?: boolean;
};

export type ServiceStatus = {
	readonly loadBalancer?: {readonly ingress?: readonly {readonly ip?: string; readonly hostname?: string}[]};
	readonly conditions?: readonly Condition[];
};

export type Service = ApiObject<ServiceSpec, ServiceStatus>;
