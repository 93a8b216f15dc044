// The types of `validators.cjs`, which `cli/prepare/compile-validators.ts` makes from `api/schemas` after each build.

type KindName =
	| 'ClusterConfig'
	| 'ConfigMap'
	| 'Deployment'
	| 'Dns'
	| 'EndpointSlice'
	| 'Function'
	| 'HorizontalPodAutoscaler'
	| 'Job'
	| 'Namespace'
	| 'Node'
	| 'Pod'
	| 'PriorityClass'
	| 'ReplicaSet'
	| 'Secret'
	| 'Service'
	| 'SlurmJob'
	| 'Workflow';

declare namespace validators {
	/** A kind, or the status of one. */
	type ValidatorName = KindName | `${KindName}Status`;

	/** One error of ajv, with the schema around the failing keyword. */
	type SchemaError = {
		readonly instancePath: string;
		readonly keyword: string;
		readonly params: {readonly [name: string]: unknown};
		readonly parentSchema?: {readonly [name: string]: unknown};
		readonly data?: unknown;
	};

	type Validator = {
		(data: unknown): boolean;
		/** Of the last call; null when it passed. */
		errors?: readonly SchemaError[] | null;
	};
}

declare const validators: {readonly [Name in validators.ValidatorName]: validators.Validator};
export = validators;
