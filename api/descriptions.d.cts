// The types of `descriptions.cjs`, which `cli/prepare/compile-validators.ts` makes from `api/schemas` after each build: the schemas as data, for
// `explain` and for OpenAPI, so that neither loads the schema builder.

declare namespace descriptions {
	/** JSON Schema, as far as `api/schemas` uses it. */
	type Schema = {
		readonly type?: string | readonly string[];
		readonly description?: string;
		readonly properties?: {readonly [name: string]: Schema};
		readonly required?: readonly string[];
		readonly items?: Schema;
		readonly additionalProperties?: boolean | Schema;
		readonly enum?: readonly unknown[];
		readonly default?: unknown;
		readonly minimum?: number;
		readonly maximum?: number;
		/** The name of a definition. */
		readonly $ref?: string;
		/** Fields that Kubernetes has here and this version does not know. */
		readonly 'x-not-yet'?: readonly string[];
		/** How a strategic merge patch changes the field: Kubernetes' own names, for clients that read OpenAPI. */
		readonly 'x-kubernetes-patch-strategy'?: string;
		readonly 'x-kubernetes-patch-merge-key'?: string;
	};

	type Descriptions = {
		/** By the name of the kind, the status included. */
		readonly kinds: {readonly [kind: string]: Schema};
		readonly definitions: {readonly [name: string]: Schema};
	};
}

declare const descriptions: descriptions.Descriptions;
export = descriptions;
