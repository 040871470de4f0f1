"""The texts of a diff that all formats share."""
