// The types of `validators.cjs`, which `cli/prepare/compile-validators.ts` makes from `api/schemas` after each build.

declare namespace validators {
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

/** By the name of the kind, or that with `Status` behind it for its status. */
declare const validators: {readonly [name: string]: validators.Validator | undefined};
export = validators;
