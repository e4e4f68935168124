package main

import (
	"fmt"
	"reflect"
)

// complete fails for the first member that is marked as required and was absent or null.
func complete(value interface{}) error {
	return completeValue(reflect.ValueOf(value))
}

func completeValue(value reflect.Value) error {
	switch value.Kind() {
	case reflect.Ptr:
		if value.IsNil() {
			return nil
		}
		return completeValue(value.Elem())
	case reflect.Slice:
		for i := 0; i < value.Len(); i++ {
			if err := completeValue(value.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := 0; i < value.NumField(); i++ {
			field, member := value.Type().Field(i), value.Field(i)
			if field.PkgPath != "" || field.Anonymous {
				continue
			}
			isAbsent := (member.Kind() == reflect.Ptr || member.Kind() == reflect.Slice) && member.IsNil()
			if field.Tag.Get("required") == "yes" && isAbsent {
				return fmt.Errorf("missing required field '%s' for %s", field.Tag.Get("json"), value.Type().Name())
			}
			if err := completeValue(member); err != nil {
				return err
			}
		}
	}
	return nil
}
