// The static shape of a v1 Namespace.

import type {ApiObject, Condition} from '../object.js';

export type NamespaceSpec = {readonly finalizers?: readonly string[]};
export type NamespaceStatus = {readonly phase: 'Active' | 'Terminating'; readonly conditions?: readonly Condition[]};
export type Namespace = ApiObject<NamespaceSpec, NamespaceStatus>;
