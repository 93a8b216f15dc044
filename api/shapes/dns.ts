// The static shape of a troupe.dev/v1 Dns: a host name whose paths are services.

import type {ApiObject, Condition} from '../object.js';

export type DnsPath = {readonly subPath: string; readonly svcName: string; readonly svcPort: number};

export type DnsSpec = {readonly host: string; readonly paths: readonly DnsPath[]};

export type DnsStatus = {readonly observedGeneration?: number; readonly conditions?: readonly Condition[]};

export type Dns = ApiObject<DnsSpec, DnsStatus>;
