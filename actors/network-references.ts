// What every node that serves traffic knows of, whatever its pods name: both ends of node sync go by it.

import {objectKey, parseObjectKey, type ObjectKey} from '../api/keys.js';
import type {IngressSpec} from '../api/kinds/ingress.js';

export const services = 'services';
export const endpointSlices = 'endpointslices';
export const policies = 'networkpolicies';

export const ingresses = 'ingresses';

/** Of no kind: a Secret of which routes have their certificate, without its values. */
export const certificates = 'certificates';

/** All of which such a node keeps copies. */
export const networkPlurals: readonly string[] = [services, endpointSlices, 'dnses', ingresses, 'nodes', certificates, policies];

/** Whether such a node has a copy of what has this key. */
export const isNetworkKey = (key: ObjectKey): boolean => networkPlurals.includes(parseObjectKey(key).plural);

export const certificateKey = (namespace: string, secret: string): ObjectKey => objectKey(certificates, namespace, secret);

export const isCertificateKey = (key: ObjectKey): boolean => parseObjectKey(key).plural === certificates;

/** The certificates that an Ingress names, each once. */
export const certificateKeysOf = ({tls = []}: IngressSpec, namespace: string): readonly ObjectKey[] => [
	...new Set(tls.flatMap(({secretName = ''}) => (secretName === '' ? [] : [certificateKey(namespace, secretName)]))),
];

/** The index term of Ingresses that name a certificate. */
export const certificateTerm = (key: ObjectKey): string => `tls=${key}`;

/** The index term of Dnses that lead to a function of their namespace. */
export const routedFunctionTerm = (namespace: string, name: string): string => `function=${namespace}/${name}`;

/** Whether it is a NetworkPolicy, of which each node has what concerns its own pods. */
export const isPolicyKey = (key: ObjectKey): boolean => parseObjectKey(key).plural === policies;
