// The static shape of a v1 ConfigMap: field names are those of Kubernetes. `api/schemas/configmap.ts` says the same to the validator.

import type {ApiObject} from '../object.js';

/** What a ConfigMap has beside its metadata. */
export type ConfigMapContent = {
	readonly data?: {readonly [key: string]: string};
	/** Base64, for what is no UTF-8 text. */
	readonly binaryData?: {readonly [key: string]: string};
	readonly immutable?: boolean;
};

export type ConfigMap = ApiObject & ConfigMapContent;
