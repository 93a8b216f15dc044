// The types of `patch-schemas.cjs`, which `cli/prepare/compile-validators.ts` makes from `api/schemas` after each build: what a strategic merge
// patch has to know of fields.

declare namespace patchSchemas {
	/** Fields that, or below which some, are patched in another way than by RFC 7386. */
	type PatchFields = {readonly [field: string]: PatchField | undefined};

	type PatchField = {
		/** A list that is merged: by this field of its items, or as a set of plain values. Without it a list is replaced. */
		readonly list?: {readonly by: string} | 'set';
		/** An object that is replaced as a whole. */
		readonly replace?: true;
		/** Of the object, or of each item of the list: one member excludes another. Where one is chosen anew, `apply` takes the others away. */
		readonly isChoice?: true;
		/** Of the object, or of each item of the list. */
		readonly fields?: PatchFields;
	};
}

/** By the name of the kind. */
declare const patchSchemas: patchSchemas.PatchFields;
export = patchSchemas;
